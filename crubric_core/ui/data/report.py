"""Show what reading files would change or has changed: in a sentence, in numbers, and with data-quality issues."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from ...environment import typed
from ...figures import coverage as figures
from ...text import listed
from .. import table_widgets, widgets
from ..loaders import workspace
from ..text import UNKNOWN, count, plain
from .policies import DECIDED_BY, question_of
from .wording import on_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...labels.ingest.findings import Finding
    from ...labels.ingest.report import IngestReport
    from ...labels.readers.plan import Plan
    from ...labels.readers.policies import Policies

ALIKE = 0.95  # share of the other judges' labels from which a heat table would have one colour only
BOX = {"error": st.error, "warning": st.warning}


def show(report: IngestReport, when: str) -> None:
    """Show a report. when: "before" (what would change, with data-quality issues) or "after" (what was stored)."""
    st.markdown(f"**{plain(_sentence(report, when))}**")
    parts = report.parts or (report,)
    st.markdown("\n".join(f"- {plain(_rows(part))}" for part in parts))
    if report.notes:
        with st.expander("What was understood"):
            st.markdown("\n".join(f"- {plain(note)}" for note in report.notes))
    if when == "before":
        findings(report.checks)
    rejects = pd.concat([part.rejects.assign(table=part.kind) for part in parts], ignore_index=True)
    if len(rejects):
        table_widgets.download(
            f"Download the {count(sum(p.rejected for p in parts), 'row')} rejected",
            rejects,
            f"left_out_{when}.csv",
        )
    if report.coverage is not None and when == "before":
        covered(report.coverage, f"{when} {report.dataset}")


def _sentence(report: IngestReport, when: str) -> str:
    changes = report.changes.sentence[:1].upper() + report.changes.sentence[1:]
    return f"{report.dataset}: done. {changes}." if when == "after" else f"{changes}. Nothing is stored yet."


def _rows(report: IngestReport) -> str:
    """``study.csv: 2,160 rows read as labels, 2 rejected, scale 0 to 1 (as given).``."""
    parts = [f"{report.source}: {count(report.accepted, 'row')} read as {report.kind}"]
    for number, words in (
        (report.rejected, "rejected"),
        (report.blank, "without a label"),
        (report.collapsed, "repeated"),
        (report.replaced, "replaced"),
    ):
        if number:
            parts.append(f"{number:,} {words}")
    if report.kind == "labels" and report.scale is not None:
        scale = report.scale
        source = "as given" if scale.source == "given" else "as seen in the labels"
        parts.append(f"scale {scale.minimum:g} to {scale.maximum:g} ({source})")
    decided = "; ".join(f"“{question_of(name)}” applied to {rows:,}" for name, rows in report.applied.items())
    return ", ".join(parts) + (f"; {decided}." if decided else ".")


def findings(found: Sequence[Finding]) -> None:
    """Show the findings of the checks, then their examples in an expander."""
    for finding in found:
        box = BOX.get(finding.severity, st.caption)
        box(f"**{plain(finding.title)}.** {plain(_finding_text(finding))}")
    shown = [f for f in found if len(f.examples) and f.code != "coverage"]
    if shown:
        with st.expander("Examples"):
            for finding in shown:
                st.caption(f"**{plain(finding.title)}**")
                st.dataframe(_examples(finding.examples), hide_index=True, placeholder=UNKNOWN)


def _finding_text(finding: Finding) -> str:
    """The finding's sentence, with the controls of this page in place of options of the command line."""
    said, _, _ = finding.sentence.partition(" To keep them, ")
    if finding.code in ("code", "stray"):  # the reason itself has the remedy
        return on_page(said)
    if finding.code in DECIDED_BY:
        said, question = on_page(said), f"“{question_of(DECIDED_BY[finding.code])}”"
        return said if question in said else f"{said} {question} controls this."
    return on_page(finding.sentence)


def _examples(table: pd.DataFrame) -> pd.DataFrame:
    """Example rows of a finding, with reasons in the words of the page."""
    return (
        table.assign(reason=table["reason"].map(on_page, na_action="ignore")) if "reason" in table else table
    )


def covered(table: pd.DataFrame, key: str) -> None:
    """Show each judge's coverage of each system: a sentence if it is about the same for all, else a heat table."""
    if table.empty:
        return
    systems, judges = table["system"].nunique(), table["judge"].nunique()
    judged = f"{count(systems, 'system')} × {count(judges, 'judge')}"
    if (least := table["share"].min()) >= ALIKE:
        if judges == 1:
            most = math.ceil(100 * (1 - least))
            blank = f"for each system, at most {most}% of the labels are" if least < 1 else "no label is"
            st.caption(f"Coverage: {judged}; {blank} blank.")
            return
        shares = (
            "as many labels as" if least == 1 else f"at least {math.floor(100 * least)}% of the labels of"
        )
        st.caption(f"Coverage: {judged}; for each system, every judge has {shares} the others.")
        return
    widgets.show(
        figures.coverage(table),
        alt=f"Labels that each judge has of each system, {judged} ({key})",
        title="Coverage: a judge's known labels of a system, in % of all labels of the judge who gave it most",
    )
    cut = [
        f"{figures.MOST} of {number:,} {what}"
        for number, what in ((systems, "systems"), (judges, "judges"))
        if number > figures.MOST
    ]
    if cut:
        st.caption(f"{listed(cut)} are shown: those with the smallest shares.")


def command(plan: Plan, dataset: str, policies: Policies, names: Sequence[str]) -> None:
    """Show how to do this on the command line: the plan to download, and the command."""
    with st.expander("The same on the command line"):
        file = "plan.json"
        st.download_button(
            "Download the plan (JSON)", plan.to_json(), file, "application/json", on_click="ignore"
        )
        words = ["ingest", "--workspace", workspace().path, "--dataset", dataset, "--mapping", file]
        for name, choice in policies.unusual().items():
            if name == "answers":
                for word, level in choice.items():
                    words += ["--answer", f"{word}={'' if level is None else f'{level:g}'}"]
            elif name == "scales":
                for criterion, (low, high) in choice.items():
                    words += ["--scale", f"{criterion}={low}..{high}"]
            elif name == "pass_marks":
                for criterion, mark in choice.items():
                    words += ["--pass-mark", f"{criterion}={mark}"]
            elif name == "polarity":
                for criterion, sign in choice.items():
                    words += ["--polarity", f"{criterion}={sign}"]
            else:
                words += ["--policy", f"{name}={choice}"]
        st.caption(
            "Stop this dashboard and run this in the folder with your files and the plan: only one process at a time "
            "can open a workspace."
        )
        st.code(typed(*words, *names), language=None, wrap_lines=True)
