"""Every command with its line of help, in the groups of ``crubric --help``.

This module imports no command: the module of a command, with everything that it needs, is loaded when it runs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One command. text: its line of help. module: name of the module in this package that adds it to a parser."""

    name: str
    text: str
    module: str


GROUPS: dict[str, tuple[Command, ...]] = {
    "Dashboard": (
        Command("app", "open the dashboard on this machine", "dashboard"),
        Command("viewer", "serve published views read-only", "dashboard"),
        Command("demo", "make the simulated study with known truth", "demo"),
    ),
    "Data": (
        Command("ingest", "read files into a dataset", "data"),
        Command("reference", "make a dataset of Parquet files that stay where they are", "reference"),
        Command("datasets", "list the datasets, one JSON line each", "data"),
        Command("export", "write a dataset's tables, or its result as a web page", "export"),
        Command(
            "history", "list the ingests of a dataset with what each changed, one JSON line each", "history"
        ),
        Command("scales", "show or change the scale and the pass mark of each criterion", "scales"),
        Command(
            "check", "list a dataset's data-quality issues, or hold a result against conditions", "history"
        ),
        Command("undo", "undo an ingest", "history"),
        Command("duplicate", "copy a dataset with its history", "history"),
        Command("backup", "copy a workspace, also while the dashboard has it open", "backup"),
        Command("restore", "put a backup in the place of a workspace", "backup"),
        Command("rename", "give a dataset another name", "history"),
        Command("delete", "remove a dataset with everything that belongs to it", "history"),
        Command("rules", "show or replace the scoring rules of a dataset", "scoring"),
        Command("types", "give the queries of a dataset their task types", "scoring"),
    ),
    "Analysis": (
        Command("build", "from labels to a bank and a tiered leaderboard", "analysis"),
        Command("experiment", "run an experiment on these labels", "analysis"),
        Command("report", "all of it in one HTML file and one Markdown file", "analysis"),
        Command("settings", "every setting with its choices and defaults, one JSON line each", "settings"),
        Command("export-bank", "write a bank as another tool reads it", "placement"),
        Command("place", "place a new system on an existing bank", "placement"),
        Command("recalibrate", "let new systems join a bank's calibration, on its scale", "recalibration"),
        Command("judge-drift", "compare two versions of a judge on the same answers", "recalibration"),
        Command("bank-history", "what was done to a bank since it was built", "recalibration"),
        Command("judge", "let language models label the answers of new systems by a bank", "judging"),
        Command("judgements", "how many judgements an ability needs, by the labels of a study", "judging"),
        Command("human-labels", "the judges' mean labels, corrected by human labels", "human_labels"),
        Command("losses", "what a system's answers are expected to cost, by losses of violations", "losses"),
        Command("scenario", "save settings under a name, and compare two of them", "scenarios"),
    ),
    "Judges": (Command("judges", "reliability, leniency and shared errors of the judges", "judges"),),
    "Sharing": (
        Command("publish", "make a read-only view and a secret link to it", "sharing"),
        Command("views", "list the views, one JSON line each, newest first", "sharing"),
        Command("revoke", "close the link of a view for good", "sharing"),
    ),
}
COMMANDS: dict[str, Command] = {command.name: command for group in GROUPS.values() for command in group}


def overview() -> str:
    """The list of all commands in their groups, as ``crubric --help`` shows it."""
    width = max(map(len, COMMANDS))
    return "\n\n".join(
        "\n".join([f"{title}:", *(f"  {command.name:<{width}}  {command.text}" for command in group)])
        for title, group in GROUPS.items()
    )
