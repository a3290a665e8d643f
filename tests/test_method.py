"""docs/method.md has numbered sections, and every section that the code or a page cites exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crubric_core import Priors, ScoringRules, Settings
from crubric_core.analysis import board, dimensions
from crubric_core.bank import item_posterior, pairs
from crubric_core.experiments import model_check
from crubric_core.experiments.registry import EXPERIMENTS
from crubric_core.irt import (
    comparison,
    dependence,
    facets,
    item_fit,
    objective,
    quadrature,
    severities,
    uncertainty,
)
from crubric_core.judges import (
    beta_prior,
    copies,
    gate_price,
    guessing,
    independence,
    pair_kappa,
    rates,
    shared_errors,
    unequal_panels,
)
from crubric_core.labels import repeated_systems
from crubric_core.labels.store import judge_sums
from crubric_core.leaderboard import (
    comparisons,
    correction,
    cross_fit,
    different_units,
    inference,
    influence,
    linked,
    spread,
)
from crubric_core.placement import among, notes

ROOT = Path(__file__).resolve().parents[1]
BODY = (ROOT / "docs/method.md").read_text("utf-8")
REFERENCES = "- " + (ROOT / "docs/references.md").read_text("utf-8").split("\n- ", 1)[1]
EVIDENCE = [
    (ROOT / f"docs/{name}.md").read_text("utf-8")
    for name in ("bank", "inference", "judges", "selection", "placement", "experiments")
]
SECTIONS = [int(number) for number in re.findall(r"^## §(\d+) ", BODY, re.MULTILINE)]
FOLDERS = ("crubric_core", "pages", "tests", "benchmarks", "docs")
NUMBERS = r"§\d+(?:–\d+)?(?:(?:,| and) §\d+(?:–\d+)?)*"


def cited(text: str) -> set[int]:
    """Numbers of the sections that a text such as "§1, §3–5" cites."""
    ranges = re.findall(r"§(\d+)(?:–(\d+))?", text)
    return {number for low, high in ranges for number in range(int(low), int(high or low) + 1)}


def sources() -> list[Path]:
    inside = [
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".md"}
    ]
    return [*inside, *ROOT.glob("*.md"), ROOT / "app.py"]


def test_sections_are_numbered_in_order() -> None:
    assert list(range(len(SECTIONS))) == SECTIONS
    assert len(SECTIONS) > 10


def test_every_reference_to_the_method_names_a_section_that_exists() -> None:
    found = 0
    for path in sources():
        for reference in re.findall(rf"docs/method\.md\s+({NUMBERS})", path.read_text("utf-8")):
            found += 1
            assert cited(reference) <= set(SECTIONS), f"{path}: {reference}"
    assert found > 40


def test_no_module_cites_a_method_that_is_not_in_the_repository() -> None:
    for path in sources():
        if path != Path(__file__):
            assert not re.search(r"\bMETHOD(\.md)? §|method\.md, §", path.read_text("utf-8")), path


def test_the_documents_own_cross_references_exist() -> None:
    assert cited(BODY) <= set(SECTIONS)


def test_every_work_listed_is_cited_and_every_work_cited_is_listed() -> None:
    entries = [entry.split("(", 1)[0:2] for entry in REFERENCES.strip().removeprefix("- ").split("\n- ")]
    listed = {(entry[0].split(",")[0], entry[1][:4]) for entry in entries if len(entry) > 1}
    text = " ".join(" ".join([BODY, *EVIDENCE]).split())
    uncited = {work for work in listed if not re.search(rf"{work[0]}( et al\.)?[^.;()]*\(?{work[1]}", text)}
    assert uncited == set()
    cited_years = re.findall(r"[A-Z][\w.]+(?: et al\.)?,? \(?((?:19|20)\d\d)\b", " ".join(BODY.split()))
    assert set(cited_years) <= {year for _, year in listed}


def test_every_claim_of_performance_has_its_command() -> None:
    for page, command in (
        ("inference.md", "python -m benchmarks.inference"),
        ("selection.md", "python -m benchmarks.selection"),
        ("benchmarks.md", "python -m benchmarks.irt"),
        ("experiments.md", "python -m docs.experiments"),
        ("placement.md", "python -m benchmarks.placement"),
        ("judges.md", "tests/judges/test_gate.py"),
    ):
        assert page in BODY
        assert command in BODY
        assert (ROOT / "docs" / page).exists()


def test_inline_formulas_close_on_their_line() -> None:
    outside = re.sub(r"^```math\n.*?^```$", "", BODY, flags=re.MULTILINE | re.DOTALL)
    assert [line for line in outside.splitlines() if line.count("$") % 2] == []


DEFAULTS = {
    "below ten measured rubrics": beta_prior.FEWEST == 10,
    "[0.1, 1000]": beta_prior.SIZE == (0.1, 1000.0),
    "ten average pairs": pair_kappa.SHRINKAGE == 10,
    r"\max(20, B/4)": (
        gate_price.LEAST_RUBRICS,
        gate_price.LEAST_SHARE,
        gate_price.LEAST_INFORMATION,
    )
    == (20, 0.5, 0.5),
    "at least ten of either class, smoothed by Beta(2, 1)": (rates.FEW_ANCHORS, rates.SMOOTHING)
    == (10, (2, 1)),
    r"N(\log a_j; 0, 0.5^2)": Priors().log_a_sd == item_posterior.LOG_A_SD == 0.5,
    r"N(b_{jl}; 0, 2^2)": Priors().b_sd == 2,
    r"4 \log c_j + 16 \log (1 - c_j)": Priors().c_beta == (5, 17),
    "41 nodes on [−4, 4]": (len(quadrature.GRID_NODES), quadrature.GRID_NODES[0]) == (41, -4),
    "at least 24 points": quadrature.LEAST_POINTS == 24,
    "Above 100 systems the posterior sd": uncertainty.MANY_SYSTEMS == 100,
    "five folds": comparison.FOLDS == 5,
    r"t_{12}": pairs.NODES == 12,
    "13 × 31 grid": (len(item_posterior.LOG_A), item_posterior.N_DIFFICULTIES) == (13, 31),
    "six EM steps": item_posterior.EM_STEPS == 6,
    r"\frac34": pairs.PRIOR_SHARE == 0.75,
    "Above 40 systems, 40 at": pairs.MOST_SYSTEMS == 40,
    "`tau_t` (.5)": Settings().tau_t == 0.5,
    "earns −.3 or −.5": (ScoringRules().moderate, ScoringRules().critical) == (-0.3, -0.5),
    "$e_j = 5$ for": (ScoringRules().actionability, ScoringRules().creativity) == (5, 3),
    "each alone up to 40 systems, else ten folds": (cross_fit.LEAVE_ONE_OUT, cross_fit.FOLDS) == (40, 10),
    "fewer than six systems": cross_fit.FEW_SYSTEMS == 6,
    "= 4000 draws up to 40 systems": (inference.DRAWS, inference.SMALL_BOARD) == (4000, 40),
    "else 1000;": inference.DRAWS_LARGE == 1000,
    "below 15 units": comparisons.FEW_UNITS == 15,
    "100 parametric replicates": item_fit.REPLICATES == 100,
    "200 draws of the rubrics' parameters": among.ITEM_DRAWS == 200,
    "three judges differs from 0 at 99.9%": (rates.FEWEST_JUDGES, rates.TOLD_APART) == (3, 0.999),
    "at most 200 blocks; over rubrics": rates.MOST_BLOCKS == 200,
    "begins at 0 or below and ends below .2": guessing.LITTLE == 0.2,
    "100 or more and 10 of them": (copies.FEWEST, copies.RARER) == (100, 10),
    "Without gold it needs four judges": independence.FEWEST_UNANCHORED == 4,
    "exceeds that value by .1": independence.SHARED == 0.1,
    "the search ends at 100": objective.STEEPEST == 100,
    "the page warns below 30 systems": comparison.FEW == 30,
    r"\ge .7$, with $r_0$": repeated_systems.REPEATED == 0.7,
    "the lower tenth of all pairs": repeated_systems.USUAL == 0.1,
    "correlate at .4 or more": repeated_systems.BESIDE == 0.4,
    ".001 in any pair": repeated_systems.CHANCE == 0.001,
    "ten labels other than their most frequent one, and 30 rubrics": (
        repeated_systems.RARER,
        repeated_systems.COMMON,
    )
    == (10, 30),
    r"1 / \sum w^2 + .05 \rfloor - 1": influence.SHORT == 0.05,
    "worth less than three quarters of their number": influence.ALIKE == 0.75,
    "the queries count as less than half of their number": board.UNEVEN == 0.5,
    "share at least five queries in use": linked.ENOUGH_SHARED == 5,
    "less than 95% of the share of the system with the most": board.FEWER == 0.95,
    "any share is further apart in 1% of tables": judge_sums.CHANCE == 0.01,
    r"\delta_i = 1.43 \sum_k": unequal_panels.MAJORITY == 1.43,
    "Student's $t$ with 2 degrees of freedom": spread.FREEDOM == 2,
    "above 100 systems as all queries": different_units.MOST_COMPARED == 100,
    "up to 40 systems no more than the ways": different_units.MOST_WAYS == 40,
    "more than .2 from the mean Q3": dependence.PRACTICAL == 0.2,
    "the largest of 19 tables": model_check.DRAWN == 19,
    "above $2^{22}$ labels one table": model_check.MOST_LABELS == 2**22,
    "rubrics that pass on at least ten queries": dimensions.FEWEST_QUERIES == 10,
    "is below −1.645 and below": notes.UNUSUAL == -1.645,
    "level .01 shared by the tests": notes.ALPHA == 0.01,
    r"K_{\mathrm{eff}} < .75 K": shared_errors.FEWER == 0.75,
    r"\frac{\lambda_k}{25}": severities.SEVERITY_SD == 5,
    "until no severity moves by $10^{-4}$": facets.SETTLED == 1e-4,
    "human labels on fewer than five queries": correction.FEWEST == 5,
    "Below $p = .01$ the page says": correction.DOUBT == 0.01,
}


@pytest.mark.parametrize("stated", DEFAULTS)
def test_a_default_that_the_method_states_is_the_codes(stated: str) -> None:
    assert " ".join(stated.split()) in " ".join(BODY.split())
    assert DEFAULTS[stated]


def test_every_experiment_has_its_row_among_the_designs_and_no_row_is_of_none() -> None:
    page = (ROOT / "docs/experiments.md").read_text("utf-8")
    table = page.split("## Designs\n")[1].split("\n## ")[0]
    rows = {row.split("`")[1]: row.split(" | ") for row in table.splitlines() if row.startswith("| `")}
    assert set(rows) == set(EXPERIMENTS)
    assert {len(row) for row in rows.values()} == {4}
