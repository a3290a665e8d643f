"""The page of the placement's benchmark: tables, and sentences that are derived from their numbers."""

from __future__ import annotations

from pathlib import Path

from benchmarks.tables import write_measured

Row = dict[str, float]

HEAD = """## Systems held out

Each system is held out in turn: fit, bank ({bank:.0f} rubrics by `pairs`) and transfer variance are without it. Its
interval and rank interval should hold its ability and rank on the whole pool. The gate, and the others' own abilities,
do see its labels. "Itself" is how often it is separated from its own record on the pool, as if it were another system.

"""
NOTES = """
Errors and tau: rank errors are in ranks; tau is Kendall's, of all systems as held-out ones with the pool; random
banks are {random} draws of the same size from the pool, with the middle 95% of their taus.

"""
RANDOM, DRAWS = 20, 200


def write_page(path: Path, known: dict[str, Row]) -> None:
    """Write the known results between the marks of the page (``tables.write_measured``)."""
    tables = {name: row for name, row in known.items() if "|" not in name}
    if not tables:
        return
    bank = next(iter(tables.values()))["bank"]
    parts = [
        HEAD.replace("{bank:.0f}", f"{bank:.0f}"),
        coverage(tables),
        NOTES.replace("{random}", str(RANDOM)),
    ]
    parts += [order(tables), verdict(tables), sizes(known, tables), clones(known), stops(known)]
    write_measured(path, "".join(parts))


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def of(row: Row, name: str) -> str:
    """A rate as numbers of systems, such as "13 of 14"."""
    return f"{round(row[name] * row['systems'])} of {row['systems']:.0f}"


def coverage(tables: dict[str, Row]) -> str:
    """The table of intervals of theta and of the rank, with the transfer variance and without."""
    head = [
        "table",
        "theta in its interval",
        "sampling alone",
        "SE",
        "sampling alone",
        "rank in its interval",
    ]
    head += ["ranks in it", "itself separated", "sampling alone"]
    rows = [
        [
            name,
            of(row, "theta covered"),
            of(row, "theta covered, sampling alone"),
            f"{row['se']:.2f}",
            f"{row['se, sampling alone']:.2f}",
            of(row, "rank covered"),
            f"{row['rank width']:.1f}",
            of(row, "itself"),
            of(row, "itself, sampling alone"),
        ]
        for name, row in tables.items()
    ]
    return table(head, rows)


def order(tables: dict[str, Row]) -> str:
    """The table of rank errors, taus and judgements."""
    head = ["table", "rank error", "random banks", "tau", "random banks", "judgements", "of", "saved"]
    rows = [
        [
            name,
            f"{row['rank error']:.2f}",
            f"{row['random rank error']:.2f}",
            f"{row['tau']:.2f}",
            f"{row['random tau']:.2f} [{row['random tau low']:.2f}, {row['random tau high']:.2f}]",
            f"{row['judgements']:,.0f}",
            f"{row['all judgements']:,.0f}",
            f"{row['saved']:.0%}",
        ]
        for name, row in tables.items()
    ]
    return table(head, rows)


def verdict(tables: dict[str, Row]) -> str:
    """Sentences that compare the results with the targets."""
    total = sum(row["systems"] for row in tables.values())
    means = {
        name: sum(row[name] * row["systems"] for row in tables.values()) / total
        for name in ("theta covered", "theta covered, sampling alone", "rank covered", "itself")
    }
    below = [name for name, row in tables.items() if row["theta covered"] < 0.9]
    worse = [name for name, row in tables.items() if row["rank error"] > row["random rank error"]]
    behind = [name for name, row in tables.items() if row["tau"] < row["random tau"]]
    said = [
        f"Over all {total:.0f} systems the interval of theta holds for {means['theta covered']:.0%} "
        f"({means['theta covered, sampling alone']:.0%} by sampling alone), that of the rank for "
        f"{means['rank covered']:.0%}; {means['itself']:.1%} are separated from themselves (target: at most 7%).",
        f"Theta is covered for less than 90% on {listed(below)}."
        if below
        else "Theta is covered for 90% on every table.",
    ]
    if means["rank covered"] > 0.99:
        said.append(
            "Rank intervals hold more often than their 95%: they are wide, simultaneous over all others."
        )
    if worse:
        said.append(f"Random banks have the smaller rank error on {listed(worse)}.")
    if behind:
        said.append(f"Random banks have the larger tau on {listed(behind)}.")
    return "\n" + " ".join(said) + "\n\n"


def sizes(known: dict[str, Row], tables: dict[str, Row]) -> str:
    """The section on banks of several sizes: how often theta is in its interval; "" with one size only."""
    found = {
        name: {int(row["bank"]): row}
        | {int(row_["bank"]): row_ for key, row_ in known.items() if key.startswith(f"size|{name}|")}
        for name, row in tables.items()
    }
    banks = sorted({bank for by_bank in found.values() for bank in by_bank})
    if len(banks) < 2:
        return ""
    held = {
        name: sum(row["theta covered"] * row["systems"] for row in rows.values())
        for name, rows in found.items()
    }
    trials = {name: sum(row["systems"] for row in rows.values()) for name, rows in found.items()}
    rate = {name: held[name] / trials[name] for name in found}
    rows = [
        [
            name,
            *(of(by_bank[bank], "theta covered") if bank in by_bank else "—" for bank in banks),
            f"{held[name]:.0f} of {trials[name]:.0f} ({rate[name]:.0%})",
        ]
        for name, by_bank in found.items()
    ]
    outside = [name for name in found if not 0.9 <= rate[name] <= 0.99]
    said = (
        f"Theta is covered outside 90–99% on {listed(outside)}."
        if outside
        else f"Theta is covered for {min(rate.values()):.0%} to {max(rate.values()):.0%}, on every table within 90–99%."
    )
    return (
        "## Banks of other sizes\n\nSeven of eight systems are 88% and eight of eight 100%: few systems cannot show a "
        "rate of 95%. Here theta\nhas to be in its interval on banks of several sizes; they share the systems.\n\n"
        + table(["table", *(f"B = {bank}" for bank in banks), "together"], rows)
        + f"\n{said}\n\n"
    )


def listed(names: list[str]) -> str:
    """Names as words of a sentence: "a, b and c"."""
    return " and ".join(names) if len(names) < 3 else ", ".join(names[:-1]) + " and " + names[-1]


def clones(known: dict[str, Row]) -> str:
    """The section on clones, which have the ability of a system and labels of their own; "" without results."""
    head = [
        "sd of a system's effect on a query",
        "tables",
        "clones",
        "separated from their twin",
        "rank interval holds",
    ]
    groups: dict[str, list[Row]] = {}
    for name, row in known.items():
        if name.startswith("clones|"):
            groups.setdefault(name.split("|")[1], []).append(row)
    rows = []
    for effect, found in groups.items():
        total = sum(row["clones"] for row in found)
        apart, held = (sum(row[name] for row in found) for name in ("separated", "rank covered"))
        rows.append([effect, str(len(found)), f"{total:.0f}", f"{apart / total:.1%}", f"{held / total:.1%}"])
    text = (
        "## Clones\n\nSimulated tables of dialsummeval's shape, 14 systems on 100 queries of 4 rubrics. A clone has\n"
        "the ability of a system of the table, and labels and query effects of its own; it is placed on the bank of\n"
        "that table. Here the rubrics follow the model and have one dimension.\n\n"
    )
    return text + table(head, rows) if rows else ""


STOPS = """
## Judging until the tier is settled

`crubric judge --until-tier .95` stops once the tier stays what it is with probability .95 when the rest of the bank is
judged: the missing labels are drawn {draws} times, and the system is placed anew with each draw ([method.md](method.md)
§13). Under the model whoever stops at .95 is wrong for at most one in twenty, however often they look. "Another tier"
counts the settled tiers that the whole bank then changed. Whether the tier by the whole bank is that of the pool is the
question of the tables above.

"""


def stops(known: dict[str, Row]) -> str:
    """The section on stopping: when judging stops, how often the rest of the bank changes the tier; "" if unknown."""
    groups: dict[str, list[Row]] = {}
    for name, row in known.items():
        if name.startswith("stops|"):
            _, first, *rest = name.split("|")
            groups.setdefault(f"simulated, sd {first}" if rest else first, []).append(row)
    if not groups:
        return ""
    head = ["table", "systems", "settled before the end", "rubrics asked", "another tier by the whole bank"]
    lines, all_rows = [], [row for found in groups.values() for row in found]
    for name, found in groups.items():
        total = {key: sum(row[key] for row in found) for key in found[0]}
        lines.append(
            [
                name,
                f"{total['systems']:.0f}",
                f"{total['early']:.0f}",
                f"{total['asked'] / total['available']:.0%}",
                f"{total['wrong']:.0f} ({total['wrong'] / max(total['early'], 1):.1%} of the settled)",
            ]
        )
    wrong, early = (sum(row[name] for row in all_rows) for name in ("wrong", "early"))
    share = wrong / max(early, 1)
    said = (
        f"Over all tables {wrong:.0f} of {early:.0f} settled tiers changed, {share:.1%} (stated: at most 5%)."
    )
    return STOPS.replace("{draws}", str(DRAWS)) + table(head, lines) + f"\n{said}\n"
