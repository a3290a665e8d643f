"""The page of the claims' benchmark: tables, and sentences that are derived from their numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import mode
from typing import Any

import numpy as np

from benchmarks.inference_designs import ABOUT, JUDGING, SYSTEMS
from benchmarks.inference_real import SPLITS
from benchmarks.tables import write_measured

Cells = dict[str, dict[str, float]]
Key = tuple[str, str, str, str]
Designs = dict[Key, dict[str, float]]

TARGETS: tuple[tuple[str, Callable[[dict[str, float]], float | None], float, bool], ...] = (
    ("identical pairs separated, at most 7%", lambda c: c.get("theta apart"), 0.07, False),
    ("tables with a false border, at most 8%", lambda c: c.get("theta border"), 0.08, False),
    ("power pairwise, at least .95 of the paired t's", lambda c: ratio(c, "found"), 0.95, True),
    ("power all at once, at least .90 of the paired t's", lambda c: ratio(c, "found all"), 0.90, True),
    ("coverage of theta, at least 92%", lambda c: c.get("theta"), 0.92, True),
    ("coverage of differences, at least 92%", lambda c: c.get("difference"), 0.92, True),
    ("coverage of rank intervals, at least 92%", lambda c: c.get("rank"), 0.92, True),
)


def ratio(cell: dict[str, float], name: str) -> float | None:
    """Power of theta divided by that of the score; None if no pair differs or the score finds none."""
    return cell[f"theta {name}"] / cell[f"score {name}"] if cell.get(f"score {name}") else None


def write_page(path: Path, known: dict[str, Any]) -> None:
    """Write all known results between the marks of the page (``tables.write_measured``)."""
    cells = {_key(name): cell for name, cell in known.items() if name.count("|") == 3}
    rows = [*targets(cells), *real_targets(known.get("real", {}))]
    verdict = table(["target", "met in", "mean", "missed"], rows) + "\n"
    parts = [known_so_far(cells), "## Against the targets\n\n", verdict, designs()]
    parts += [claims(cells), coverage(cells)]
    if "threshold" in known:
        parts.append(thresholds(known["threshold"]))
    if "real" in known:
        parts.append(real(known["real"]))
    write_measured(path, "".join(parts))


def _key(name: str) -> Key:
    systems, rubrics, spread, judging = name.split("|")
    return systems, rubrics, spread, judging


def known_so_far(cells: Designs) -> str:
    """A sentence on how many cells of the design are known, and how many of them from fewer than 60 tables."""
    whole = len(JUDGING) * len(SYSTEMS) * 4
    few = sum(cell["tables"] < 60 for cell in cells.values())
    rest = "" if len(cells) >= whole and not few else " The first command above adds what is missing."
    return f"{len(cells)} of {whole} cells are known, {few} of them from fewer than 60 tables.{rest}\n\n"


def targets(cells: Designs) -> list[list[str]]:
    """One row for each target: in how many cells it is met, the mean over the cells, and the cells that miss it."""
    rows = []
    for name, value, limit, least in TARGETS:
        found = {key: got for key, cell in cells.items() if (got := value(cell)) is not None}
        if not found:
            continue
        missed = {k: v for k, v in found.items() if (v < limit if least else v > limit)}
        worst = sorted(missed, key=missed.__getitem__, reverse=not least)
        where = "; ".join(f"{describe(k)}: {number(missed[k])}" for k in worst) or "—"
        rows.append(
            [
                name,
                f"{len(found) - len(missed)} of {len(found)}",
                number(sum(found.values()) / len(found)),
                where,
            ]
        )
    return rows


def real_targets(known: Cells) -> list[list[str]]:
    """Rows in the form of ``targets`` for the halves of real tables, with pairs alone and all at once."""
    found = {}
    for name, cell in known.items():
        for kind, words in (("alone", "each pair alone"), ("all", "all at once")):
            reversed_, scores = cell[f"theta {kind} reversed"], cell[f"matched theta {kind} reversed"]
            found[f"{name}, {words}"] = cell[f"theta {kind} significantly"], reversed_, scores
    if not found:
        return []
    high = {k: v for k, (v, _, _) in found.items() if v > 0.005}
    more = {k: (v, s) for k, (_, v, s) in found.items() if v > 1.2 * s}
    lows = [cell[f"{kind} ratio low"] for cell in known.values() for kind in ("alone", "all")]
    means = [sum(column) / len(found) for column in zip(*found.values(), strict=True)]
    return [
        [
            "real halves: significantly reversed, at most .5%",
            f"{len(found) - len(high)} of {len(found)}",
            number(means[0], 4),
            "; ".join(f"{k}: {number(v, 3)}" for k, v in high.items()) or "—",
        ],
        [
            "real halves: reversed, at most 1.2 times the paired t's at the same share",
            f"{len(found) - len(more)} of {len(found)}",
            f"{number(means[1], 3)} vs {number(means[2], 3)}",
            ("; ".join(f"{k}: {number(v, 3)} vs {number(s, 3)}" for k, (v, s) in more.items()) or "—")
            + f"; the ratio's interval is above 1.2 in {sum(low > 1.2 for low in lows)} of {len(lows)}",
        ],
    ]


def designs() -> str:
    """A list of what the names of the designs mean."""
    lines = [f"- {name}: {ABOUT[name]}." for name in (*SYSTEMS, *JUDGING)]
    return "\n".join(lines) + "\n\n"


MEASURES = (
    ("apart", "Identical pairs separated, each pair alone (nominal .05)"),
    ("border", "Boards with a false border, all pairs at once (nominal .05)"),
    ("found", "Different pairs found, each pair alone"),
    ("found all", "Different pairs found, all pairs at once"),
)


def claims(cells: Designs) -> str:
    """False and true claims of both rules: a table for each measure, with designs in rows and judging in columns."""
    designs = list(dict.fromkeys(key[:3] for key in ordered(cells)))
    about = (
        "Each cell has the rate of theta / that of the score; a ratio is theta's power over the score's. A design is a "
        "set of systems, rubrics a query (×) and s. "
    )
    parts = ["## Claims, theta / score\n\n", about, _tables_behind(cells), "\n\n"]
    for name, title in MEASURES:
        parts.append(f"**{title}**\n\n{_pivot(cells, designs, partial(_both, name=name))}\n")
    for name, title in MEASURES[2:]:
        parts.append(f"**{title}: ratio**\n\n{_pivot(cells, designs, partial(_ratio, name=name))}\n")
    return "".join(parts)


def _ratio(cell: dict[str, float], name: str) -> str:
    return number(ratio(cell, name))


def _both(cell: dict[str, float], name: str) -> str:
    values = [cell.get(f"{rule} {name}") for rule in ("theta", "score")]
    return "—" if None in values else " / ".join(number(value) for value in values)


def _tables_behind(cells: Designs) -> str:
    """A sentence: how many simulated tables most cells rest on, and the cells with another number."""
    counts = [cell["tables"] for cell in cells.values()]
    usual = mode(counts) if counts else 0
    others = [
        f"{describe(key)} ({cells[key]['tables']:.0f})"
        for key in ordered(cells)
        if cells[key]["tables"] != usual
    ]
    return f"Each rests on {usual:.0f} tables" + (f", but for {'; '.join(others)}." if others else ".")


def _pivot(
    cells: Designs, designs: list[tuple[str, str, str]], value: Callable[[dict[str, float]], str]
) -> str:
    """Designs in rows, judging in columns; rows without any value are left out."""
    rows = []
    for design in designs:
        row = [value(cells[key]) if (key := (*design, judging)) in cells else "—" for judging in JUDGING]
        if set(row) != {"—"}:
            rows.append([f"{design[0]}, × {design[1]}, s = {design[2]}", *row])
    return table(["design", *JUDGING], rows)


def coverage(cells: Designs) -> str:
    """The section of coverage and widths, also of the paper's bank."""
    rows = []
    for key in ordered(cells):
        cell = cells[key]
        if "rank" not in cell:
            continue
        names = (
            "theta",
            "difference",
            "rank",
            "all ranks",
            "width",
            "ranks wide",
            "bank theta",
            "bank width",
        )
        rows.append([describe(key), *(number(cell.get(name)) for name in names)])
    head = ["cell", "theta", "differences", "ranks", "all ranks at once", "width of theta", "ranks wide"]
    head += ["paper's bank: theta", "its width"]
    about = (
        "The truth is put on the scale of the estimates by weighted least squares; widths are in units of the true "
        "abilities. The paper's bank of 200 is chosen and fitted on the labels that it ranks: its intervals are "
        "narrow because they miss most of the error.\n\n"
    )
    return "## Coverage\n\n" + about + table(head, rows) + "\n"


def thresholds(known: Cells) -> str:
    """The section of false borders by the threshold of all pairs."""
    head = ["units", "systems", "boards", "false border, normal threshold", "threshold in use"]
    rows = [
        [*name.split("|"), number(cell["boards"], 0), number(cell["normal"], 3), number(cell["used"], 3)]
        for name, cell in known.items()
    ]
    about = (
        "How often a board of identical systems shows any separated pair, where the units' scores are normal: with the "
        "normal quantile c, and with the threshold in use, c carried to Student's t (below 15 units at least "
        "Bonferroni's bound). Nominal 5%.\n\n"
    )
    return "## The threshold of all pairs\n\n" + about + table(head, rows) + "\n"


def real(known: Cells) -> str:
    """The section of real tables: half of the queries compared with the other half."""
    rows = []
    for name, cell in known.items():
        for kind, words in (("alone", "each pair alone"), ("all", "all at once")):
            row = [name, words]
            for rule in (f"theta {kind}", f"score {kind}"):
                row += [
                    number(cell[f"{rule} {part}"], 3) for part in ("separated", "reversed", "significantly")
                ]
            row.append(number(cell[f"matched theta {kind} reversed"], 3))
            row.append(ratio_words(cell, kind))
            rows.append(row)
    head = ["table", "claims", "theta separated", "reversed", "significantly"]
    head += ["score separated", "reversed", "significantly", "score's reversed at theta's share", "ratio"]
    about = (
        f"The queries of a table are halved at random {SPLITS} times, and each half is compared with the other. The "
        "table has the share of pairs that one half separates; of these, the share that the other half puts in the "
        "opposite order (reversed), and the share that it separates in that order (significantly). For a fair "
        "comparison the last columns take as many pairs by the score as theta separates, those with the smallest p of "
        "the paired t. The ratio is theta's share reversed over that one, with the 95% interval of the jackknife over "
        "systems, as pairs share systems and halves share labels.\n\n"
    )
    return "## Half the queries against the other half, real tables\n\n" + about + table(head, rows)


def ratio_words(cell: dict[str, float], kind: str) -> str:
    """The ratio of the reversed shares with its interval; — if a share is 0."""
    ratio, low, high = (cell[f"{kind} ratio{end}"] for end in ("", " low", " high"))
    return f"{ratio:.2f} [{low:.2f}, {high:.2f}]" if np.isfinite([ratio, low, high]).all() else "—"


def ordered(cells: Designs) -> list[Key]:
    """The keys sorted by judging, design of the systems, rubrics a query, and effect."""
    return sorted(cells, key=lambda k: (JUDGING.index(k[3]), SYSTEMS.index(k[0]), int(k[1]), float(k[2])))


def describe(key: Key) -> str:
    """A cell in words."""
    return f"{key[0]}, × {key[1]}, s = {key[2]}, {key[3]}"


def number(value: float | None, digits: int = 2) -> str:
    """A rate without the 0 before the point, as .95; — if unknown."""
    if value is None:
        return "—"
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
