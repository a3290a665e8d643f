"""The tables of E2 with systems held out, and the sentences about them (``held_out_systems``)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..intervals import difference_interval, jackknife_half_width, known_mean
from ..types import FloatArray, IntArray
from .concordance import MEASURES, Concordance, error_layers
from .declaration import HIGH, LOW, ResultColumn, ResultTable, hidden, number
from .results import ExperimentResult, compared, num, records, span

ALL = (*MEASURES, "score_error")
NAMES = {
    "pairs": "pairs",
    "greedy": "the paper's greedy after its gate",
    "random": "random rubrics",
    "tiny_labels": "tinyBenchmarks, by labels",
    "tiny_irt": "tinyBenchmarks, by IRT",
    "metabench": "metabench's best of random subsets",
    "fluid": "fluid-benchmarking",
}
MEASURE_NAMES = {
    "new_pairs": "new pairs in order",
    "new_old": "new and old in order",
    "tau": "Kendall's τ",
    "human": "τ with humans",
    "score_error": "error of the pool's score",
}
TITLES = {"new_pairs": "new pairs in order", "new_old": "new against old in order", "tau": "Kendall's tau"}


def summary_table(found: dict[str, Concordance], confidence: float) -> pd.DataFrame:
    """One row a selector: each measure with its interval over systems, and its difference to random.

    Columns: selector, then for each of new_pairs, new_old, tau, human, score_error: the value, _low, _high, and
    _gain, _gain_low, _gain_high (paired difference to random; positive is better).
    """
    rows = []
    random = _measured(found["random"], confidence) if "random" in found else None
    for name, concordance in found.items():
        row: dict[str, object] = {"selector": name}
        measured = _measured(concordance, confidence)
        gains = _ahead(measured, random if name != "random" else None, confidence)
        for measure, (value, low, high), gain in zip(ALL, measured.ends, gains, strict=True):
            shown = (-value, -high, -low) if measure == "score_error" else (value, low, high)
            for prefix, numbers in ((measure, shown), (f"{measure}_gain", gain)):
                row |= dict(zip((prefix, f"{prefix}_low", f"{prefix}_high"), numbers, strict=True))
        rows.append(row)
    return pd.DataFrame(rows)


def ahead_table(found: dict[str, Concordance], confidence: float) -> pd.DataFrame:
    """One row for each other selector and measure: selector, measure, difference, low, high.

    difference: pairs minus the selector, paired; positive is better.
    """
    measured = {name: _measured(concordance, confidence) for name, concordance in found.items()}
    rows = [
        (name, measure, *numbers)
        for name, other in measured.items()
        if name != "pairs"
        for measure, numbers in zip(ALL, _ahead(measured["pairs"], other, confidence), strict=True)
    ]
    return pd.DataFrame(rows, columns=["selector", "measure", "difference", "low", "high"])


@dataclass(frozen=True)
class _Measured:
    """The five measures of a selector; larger is better.

    ends: (5, 3) value, low, high. without: (5, M) the values without each system.
    """

    ends: FloatArray
    without: FloatArray


def _measured(concordance: Concordance, confidence: float) -> _Measured:
    """The measures with intervals over systems: exact for the shares, the jackknife's for the score error."""
    values = np.vstack([concordance.with_and_without(), -error_layers(concordance)])
    ends = np.vstack([concordance.intervals(confidence), _jackknife(values[-1], confidence)])
    return _Measured(np.column_stack([values[:, 0], ends]), values[:, 1:])


def _ahead(one: _Measured, other: _Measured | None, confidence: float) -> FloatArray:
    """(5, 3) difference, low, high of ``one`` minus ``other``, paired; NaN if ``other`` is None."""
    if other is None:
        return np.full(one.ends.shape, np.nan)
    difference = one.ends[:, 0] - other.ends[:, 0]
    error = _jackknife(np.append(difference[-1], one.without[-1] - other.without[-1]), confidence)
    both = np.stack([one.without, other.without], axis=1)
    shares = [difference_interval(one.ends[k], other.ends[k], both[k]) for k in range(len(MEASURES))]
    return np.column_stack([difference, [*shares, error]])


def _jackknife(values: FloatArray, confidence: float) -> tuple[float, float]:
    """Ends of the jackknife interval. values: (1 + M,) a mean over systems, then the mean without each system."""
    half = float(jackknife_half_width(values[1:][np.isfinite(values[1:])], confidence))
    return float(values[0] - half), float(values[0] + half)


def budget_table(found: dict[str, Concordance], budgets: IntArray) -> pd.DataFrame:
    """One row for each selector and budget: selector, budget and the five measures."""
    rows = []
    for name, concordance in found.items():
        values = np.vstack([concordance.by_budget(), known_mean(concordance.score_error, axis=1)])
        rows += [
            (name, int(budget), *column) for budget, column in zip(budgets, values.T.tolist(), strict=True)
        ]
    return pd.DataFrame(rows, columns=["selector", "budget", *ALL])


def found_sentence(ahead: pd.DataFrame, table: pd.DataFrame) -> str:
    """Sentences comparing pairs with random rubrics and with the paper's greedy, with intervals."""
    sentences = []
    for selector in ("random", "greedy"):
        part = records(ahead[ahead["selector"] == selector], "measure")
        said = [f"{title} {_compared(part[measure])}" for measure, title in TITLES.items() if measure in part]
        if said:
            sentences.append(f"Banks of pairs minus {NAMES[selector]}: {'; '.join(said)}.")
    error = records(table, "selector")["pairs"]["score_error"]
    return " ".join([*sentences, f"Their prediction of the pool's score is off by {num(error)} on average."])


def _compared(row: dict[str, float]) -> str:
    """A difference with its interval as text, followed by "ahead", "behind" or "not separated"."""
    if np.isnan(row["difference"]):
        return "unknown"
    side = compared(row["low"], row["high"], "ahead", "behind", "not separated")
    return f"{num(row['difference'])} {span(row['low'], row['high'])} ({side})"


def headline(result: ExperimentResult) -> str:
    """A sentence comparing banks of pairs with random banks on new systems."""
    ahead = result.tables["ahead"]
    row = records(ahead[ahead["selector"] == "random"], "measure")["tau"]
    if np.isnan(row["difference"]):
        return "Banks cannot be compared on new systems here."
    said = compared(
        row["low"],
        row["high"],
        "Banks of pairs rank new systems better than random ones",
        "Banks of pairs rank new systems worse than random ones",
        "No difference is shown between banks of pairs and random ones in how they rank new systems",
    )
    return f"{said}: Δτ {num(row['difference'])} {span(row['low'], row['high'])}."


def _with_intervals() -> dict[str, ResultColumn]:
    """The columns of each measure with its interval, and of its difference to random."""
    shown = {
        "new_pairs": number("new pairs", "percent", "Pairs of new systems in the pool's order"),
        "new_old": number("new and old", "percent", "Pairs of a new and an old system in the pool's order"),
        "tau": number("τ", about="Kendall's tau of all systems as new ones"),
        "human": number("τ with humans"),
        "score_error": number("error of the score", about="Of the predicted mean over the pool"),
    }
    columns: dict[str, ResultColumn] = {}
    for name, column in shown.items():
        ends = name == "tau"
        columns |= {
            name: column,
            f"{name}_low": replace(LOW, on_page=ends),
            f"{name}_high": replace(HIGH, on_page=ends),
        }
        gain = f"{name}_gain"
        columns |= {
            gain: hidden("ahead of random"),
            f"{gain}_low": hidden("from"),
            f"{gain}_high": hidden("to"),
        }
    return columns


TABLES = {
    "new_systems": ResultTable(
        "New systems on banks chosen without them, and the difference to random rubrics",
        {"selector": ResultColumn("chosen by", words=NAMES), **_with_intervals()},
    ),
    "ahead": ResultTable(
        "How far pairs are ahead of each other selector",
        {
            "selector": ResultColumn("selector", words=NAMES),
            "measure": ResultColumn("measure", words=MEASURE_NAMES),
            "difference": number("difference", about="Pairs minus the other, the same systems"),
            "low": LOW,
            "high": HIGH,
        },
    ),
    "budgets": ResultTable(
        "By bank size",
        {
            "selector": ResultColumn("chosen by", words=NAMES),
            "budget": number("B", "localized"),
            **{name: number(words) for name, words in MEASURE_NAMES.items()},
        },
        on_page=False,
    ),
}
