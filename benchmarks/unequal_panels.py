"""Do a board's claims hold where systems were labelled by different judges?

    python -m benchmarks.unequal_panels [--tables 40]
    python -m benchmarks.unequal_panels --real DIR [--tables 40]
    python -m benchmarks.unequal_panels --majority
    python -m benchmarks.unequal_panels --many-facet [--real DIR] [--tables 40]

Simulated: 12 systems on 60 queries of five rubrics (2PL, log a ~ N(0, .4²), b ~ N(0, 1.2²)) and six judges, each wrong
on 10% of the cells and lenient or strict by N(0, 1) logits; who labelled what is the design. A false border: any
pair of identical systems is separated. Reversed: separated pairs of systems N(0, .5²) that are the other way round in
truth, among all that are separated.

Real: of a table that all judges labelled, half of the systems keep the labels of one judge and the other half those of
another; a tenth of the queries keep all. Contradicted: pairs separated so, the other way round of what all labels
separate. Both halves and judges are drawn anew for each table.

Majority: how far the share of passes among decided cells moves, as a multiple of the mean label, if all judges become
slightly more lenient on the logit scale; cells' pass rates follow a beta distribution with mean .5, .7 or .9 at which
two judges disagree on the given share of the cells.

Many-facet: the same simulations for abilities with judges on the scale (``experiment many_facet``), of the designs in
which common cells link the judges.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit, logit

from crubric_core import Settings, Workspace
from crubric_core.analysis.ranking import score_inference
from crubric_core.analysis.stages import Analysis
from crubric_core.experiments.many_facet import many_facet
from crubric_core.leaderboard.inference import Inference, infer

SYSTEMS, QUERIES, PER_QUERY, JUDGES, ERROR = 12, 60, 5, 6, 0.1
DESIGNS = {
    "all judges label all": "equal",
    "two judges of each cell, at random": "equal",
    "one judge of each cell, at random": "equal",
    "two judges of each system": "unequal",
    "one judge of each system": "unequal",
    "home judges for 70% of the rubrics": "unequal",
    "two camps of three judges": "unequal",
    "two camps, all judges on a tenth": "unequal",
    "half of the judges came late": "unequal",
}
UNLINKED = ("one judge of each cell, at random", "one judge of each system", "two camps of three judges")
RULES = ("theta", "theta, no allowance", "score", "score, no allowance")


def labelled(design: str, rng: np.random.Generator) -> np.ndarray:
    """(M, J, K) which judges label which cells."""
    size = QUERIES * PER_QUERY
    places = rng.random((SYSTEMS, size, JUDGES)).argsort(axis=2).argsort(axis=2)
    own = rng.random((SYSTEMS, 1, JUDGES)).argsort(axis=2).argsort(axis=2)
    first, later = np.arange(SYSTEMS) < SYSTEMS // 2, np.arange(JUDGES) >= JUDGES // 2
    camps = np.broadcast_to((first[:, None] != later)[:, None], places.shape)
    if design.startswith("all judges"):
        return places >= 0
    if design.endswith("cell, at random"):
        return places < (2 if design.startswith("two") else 1)
    if design.endswith("of each system"):
        return np.broadcast_to(own < (2 if design.startswith("two") else 1), places.shape)
    if design.startswith("home"):
        return np.where(rng.random((SYSTEMS, size, 1)) < 0.7, own < 2, places < 2)
    if design.startswith("two camps of"):
        return camps
    if design.startswith("two camps"):
        return camps | (rng.permutation(size) < size // 10)[:, None]
    return np.broadcast_to((~later | first[:, None])[:, None], places.shape)


def simulate(design: str, spread: float, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of labels, and the true abilities (M,) by the systems' names."""
    rng = np.random.default_rng([21, seed])
    size = QUERIES * PER_QUERY
    theta, leniency = spread * rng.normal(size=SYSTEMS), rng.normal(size=JUDGES)
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(0, 1.2, size)
    truth = rng.random((SYSTEMS, size)) < expit(a * (theta[:, None] - b))
    sure = logit(1 - ERROR)
    label = rng.random((SYSTEMS, size, JUDGES)) < expit(np.where(truth, sure, -sure)[:, :, None] + leniency)
    i, j, k = np.nonzero(labelled(design, rng))
    columns = {
        "system": [f"s{n:02d}" for n in i],
        "query": [f"q{n // PER_QUERY}" for n in j],
        "rubric": [f"r{n}" for n in j],
        "judge": [f"j{n}" for n in k],
        "label": label[i, j, k].astype(int),
    }
    return pd.DataFrame(columns), theta


def boards(table: pd.DataFrame) -> dict[str, Inference]:
    """Rule of RULES → claims about theta and the score, each with and without the allowance for unequal panels."""
    settings = Settings()
    with Workspace() as workspace:
        workspace.ingest(table.to_csv(index=False).encode(), "study")
        data = workspace.dataset("study")
        analysis = Analysis.of(data, settings)
        ranking = analysis.ranking()
        blind = replace(ranking.ability, allowance=None)
        found = (
            ranking.standing,
            infer(blind, np.random.default_rng([settings.seed, 2])),
            analysis.score_standing(analysis.used),
            score_inference(ranking, analysis.queries(), analysis.settings),
        )
    return dict(zip(RULES, found, strict=True))


def of_design(design: str, tables: int) -> str:
    """One row of the table of simulations."""
    borders, apart, wrong = (dict.fromkeys(RULES, 0.0) for _ in range(3))
    for seed in range(tables):
        for rule, found in boards(simulate(design, 0.0, seed)[0]).items():
            borders[rule] += bool(found.separated.any()) / tables
        table, theta = simulate(design, 0.5, seed)
        for rule, found in boards(table).items():
            apart[rule] += found.separated.mean() * SYSTEMS / (SYSTEMS - 1) / tables
            reversed_ = found.separated & (np.sign(found.difference) != np.sign(theta[:, None] - theta))
            wrong[rule] += reversed_.mean() * SYSTEMS / (SYSTEMS - 1) / tables
    shares = {rule: wrong[rule] / apart[rule] if apart[rule] else float("nan") for rule in RULES}
    cells = [" / ".join(f"{values[rule]:.2f}" for rule in RULES) for values in (borders, apart)]
    return f"| {design} | {' | '.join(cells)} | {' / '.join(f'{shares[rule]:.3f}' for rule in RULES)} |"


def many_facet_board(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each pair that ``experiment many_facet`` separates; SystemExit if it fits no model."""
    with Workspace() as workspace:
        workspace.ingest(table.to_csv(index=False).encode(), "study")
        found = many_facet(workspace.dataset("study"), Settings())
        if found.frame().empty:
            raise SystemExit(found.found)
        return found.tables["pairs"]


def with_judges_on_the_scale(design: str, tables: int) -> str:
    """One row of the table of the many-facet model."""
    borders = apart = wrong = 0
    for seed in range(tables):
        borders += not many_facet_board(simulate(design, 0.0, seed)[0]).empty
        table, theta = simulate(design, 0.5, seed)
        truth = dict(zip((f"s{n:02d}" for n in range(SYSTEMS)), theta, strict=True))
        pairs = many_facet_board(table)
        apart += len(pairs)
        wrong += int((pairs["ahead"].map(truth) < pairs["behind"].map(truth)).sum())
    share = apart / tables / (SYSTEMS * (SYSTEMS - 1) / 2)
    return f"| {design} | {borders / tables:.2f} | {share:.2f} | {wrong / apart if apart else float('nan'):.3f} |"


def thinned(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Keep one judge for half of the systems, another for the others, and all judges on a tenth of the queries."""
    systems, queries = table["system"].unique(), table["query"].unique()
    one, other = rng.permutation(table["judge"].unique())[:2]
    first = rng.permutation(systems)[: len(systems) // 2]
    common = rng.permutation(queries)[: len(queries) // 10]
    kept = np.where(table["system"].isin(first), table["judge"] == one, table["judge"] == other)
    return table[kept | table["query"].isin(common)]


def by_all_judges(folder: Path) -> pd.DataFrame:
    """Real labels of the systems that all judges labelled."""
    names = {"system": str, "query": str, "rubric": str, "judge": str}
    table = pd.read_csv(folder / "labels.csv", dtype=names)
    full = table.groupby("system")["judge"].nunique() == table["judge"].nunique()
    return table[table["system"].isin(full.index[full])]


def real_with_judges_on_the_scale(folder: Path, tables: int) -> str:
    """One row of the table of real labels for the many-facet model; pairs are compared with the whole table's board."""
    table = by_all_judges(folder)
    whole, rng = boards(table)["theta"], np.random.default_rng(5)
    place = {name: at for at, name in enumerate(sorted(table["system"].unique()))}
    ahead = whole.separated & (whole.difference > 0)
    apart = wrong = 0
    for _ in range(tables):
        pairs = many_facet_board(thinned(table, rng))
        apart += len(pairs)
        wrong += int(ahead[pairs["behind"].map(place), pairs["ahead"].map(place)].sum())
    size = len(place)
    return (
        f"| {folder.name} | {size} | {size * (size - 1) // 2} | {apart / tables:.1f} | {wrong / tables:.1f} |"
    )


def real(folder: Path, tables: int) -> str:
    """One row of the table of real labels, of the systems that all judges labelled."""
    table = by_all_judges(folder)
    whole, rng = boards(table), np.random.default_rng(5)
    apart, wrong = (dict.fromkeys(RULES, 0.0) for _ in range(2))
    for _ in range(tables):
        for rule, found in boards(thinned(table, rng)).items():
            apart[rule] += found.separated.sum() / 2 / tables
            against = (
                found.separated & whole[rule].separated & (found.difference * whole[rule].difference < 0)
            )
            wrong[rule] += against.sum() / 2 / tables
    cells = [" / ".join(f"{values[rule]:.1f}" for rule in RULES) for values in (apart, wrong)]
    size = table["system"].nunique()
    return f"| {folder.name} | {size} | {size * (size - 1) // 2} | {' | '.join(cells)} |"


def majority_gain(mean: float, disagreement: float, judges: int) -> float:
    """Change of the share of majority passes (ties left out) by a small leniency, over the change of the mean label."""
    size = mean * (1 - mean) / (mean * (1 - mean) - disagreement / 2) - 1
    rates = stats.beta.ppf((np.arange(400) + 0.5) / 400, mean * size, (1 - mean) * size)
    rates = np.clip(rates, 1e-9, 1 - 1e-9)
    passes = np.arange(judges + 1)[:, None]
    found = []
    for shift in (-0.01, 0.01):
        moved = expit(logit(rates) + shift)
        chance = np.asarray(stats.binom.pmf(passes, judges, moved))
        won, lost = (chance[side[:, 0]].sum() for side in (2 * passes > judges, 2 * passes < judges))
        found.append((won / (won + lost), moved.mean()))
    (low, low_mean), (high, high_mean) = found
    return float((high - low) / (high_mean - low_mean))


def print_many_facet(real_data: Path | None, tables: int, designs: list[str]) -> None:
    """Print the table of the many-facet model, of real labels if a folder is given."""
    if real_data is not None:
        print("| table | systems | pairs | separated | contradicted |\n| --- | --- | --- | --- | --- |")
        for name in ("dialsummeval", "wildbench"):
            print(real_with_judges_on_the_scale(real_data / name, tables), flush=True)
        return
    print("| who labelled | tables with a false border | pairs separated | of these reversed |")
    print("| --- | --- | --- | --- |")
    for design in (name for name in designs if name not in UNLINKED):
        print(with_judges_on_the_scale(design, tables), flush=True)


def main() -> None:
    """Print the table that the options name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS))
    parser.add_argument("--real", type=Path)
    parser.add_argument("--majority", action="store_true")
    parser.add_argument("--many-facet", action="store_true")
    given = parser.parse_args()
    if given.many_facet:
        print_many_facet(given.real, given.tables, given.designs)
        return
    if given.majority:
        sizes = (2, 3, 4, 5, 9)
        print(
            f"| mean | disagree | {' | '.join(f'{n} judges' for n in sizes)} |\n| --- | --- |{' --- |' * len(sizes)}"
        )
        for mean, disagreement in product((0.5, 0.7, 0.9), (0.1, 0.2, 0.3)):
            if disagreement / 2 < mean * (1 - mean):
                gains = [majority_gain(mean, disagreement, n) for n in sizes]
                print(f"| {mean} | {disagreement} | {' | '.join(f'{gain:.2f}' for gain in gains)} |")
        return
    rules = " / ".join(RULES)
    print(f"Each cell: {rules}.\n")
    if given.real:
        print("| table | systems | pairs | separated | contradicted |\n| --- | --- | --- | --- | --- |")
        for name in ("dialsummeval", "wildbench"):
            print(real(given.real / name, given.tables), flush=True)
        return
    print(
        "| who labelled | tables with a false border | pairs separated | of these reversed |\n| --- | --- | --- | --- |"
    )
    for design in given.designs:
        print(of_design(design, given.tables), flush=True)


if __name__ == "__main__":
    main()
