from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.analysis.export import report, versions
from crubric_core.demo import simulate
from crubric_core.demo.writing import KINDS
from crubric_core.experiments import EXPERIMENTS, run_experiment
from crubric_core.figures.experiments import DRAWN, crossfit_deltas, experiment_figures, sweep_coverage
from crubric_core.figures.shared_view import PAGE
from crubric_core.reports.sections import LIMITS, markdown_table, report_markdown, sheet
from crubric_core.reports.study import full_report, write_report
from crubric_core.reports.templating import call
from crubric_core.sharing.words import settings_words
from tests.experiments.conftest import QUICK

HOSTILE = "<script>alert(1)</script>|[x](javascript:1)"
SETTINGS = Settings(tau_c=0.6, budget=20, replicates=20)


@pytest.fixture(scope="module")
def study():
    """A small simulated study in which a system and a query have hostile names; with all its experiments."""
    made = simulate(0, systems=6, queries=8, pool=(8, 12))
    name = made.labels["system"].iloc[0]
    with Workspace() as ws:
        for kind in KINDS:
            table = getattr(made, kind).replace({name: HOSTILE})
            ws.ingest(table.to_csv(index=False).encode(), "small <b>", kind, format="csv")
        ds = ws.dataset("small <b>")
        yield (
            run_pipeline(ds, SETTINGS),
            [run_experiment(n, ds, SETTINGS, **QUICK.get(n, {})) for n in EXPERIMENTS],
        )


def test_every_experiment_has_a_figure_that_shows_its_own_numbers(study):
    _, results = study
    assert {c.draw for e in EXPERIMENTS.values() for c in e.charts if c.draw} == set(DRAWN)
    main = {
        "crossfit": "rho",
        "new_systems": "tau",
        "sweep": "kappa",
        "perturbation": "degradation",
        "ablation": "gap",
        "attrition": "joint",
        "stability": "kept",
        "blocks": "to_random",
        "model_check": "eigenvalue",
        "self_preference": "preference",
        "many_facet": "theta",
        "scale": "rubrics",
    }
    for result in results:
        table = result.tables[
            {
                "crossfit": "curves",
                "new_systems": "budgets",
                "stability": "variants",
                "model_check": "spectrum",
            }.get(result.name, next(iter(result.tables)))
        ]
        traces = experiment_figures(result)[0][1].data
        along = (
            "x" if result.name in ("stability", "blocks", "self_preference", "many_facet", "scale") else "y"
        )
        drawn = np.concatenate([np.asarray(trace[along], dtype=float) for trace in traces])
        values = table[main[result.name]].to_numpy(dtype=float)[1:]
        assert np.isin(values[np.isfinite(values)], drawn).all(), result.name


def test_paired_deltas_are_drawn_around_their_mean(study):
    result = next(r for r in study[1] if r.name == "crossfit")
    *dots, means = crossfit_deltas(result).data
    others = result.frame()[result.frame()["strategy"] != "pairs"]
    np.testing.assert_allclose([np.mean(d.x) for d in dots], others["delta"], rtol=1e-12, equal_nan=True)
    np.testing.assert_allclose(means.x, others["delta"], equal_nan=True)
    low = np.asarray(means.x) - np.asarray(means.error_x.arrayminus)
    np.testing.assert_allclose(low, others["delta_low"], equal_nan=True)


def test_kappa_against_coverage_starts_without_a_gate(study):
    result = next(r for r in study[1] if r.name == "sweep")
    drawn, table = sweep_coverage(result).data[0], result.frame().dropna(subset=["kappa"])
    assert drawn.text[0] == "no gate"
    assert np.asarray(drawn.x).tolist() == table["share"].tolist()
    assert np.asarray(drawn.y).tolist() == table["kappa"].tolist()


def test_where_the_gate_allows_no_claim_the_report_has_neither_tier_nor_order(study):
    result = replace(study[0], verdict=replace(study[0].verdict, holds=False))
    html = full_report(result, [])
    assert "interval, by name: no order is claimed" in html
    board = json.loads(re.search(r'id="figures">(.*?)</script>', html)[1])[0]
    assert "Tier" not in json.dumps(board)
    assert board["layout"]["yaxis"]["ticktext"] == sorted(board["layout"]["yaxis"]["ticktext"])
    assert report(result)["tiers"] == []
    assert report(study[0])["tiers"]


def test_the_figure_of_60_systems_in_a_report_is_as_high_as_a_page_and_leaves_none_half_empty(study):
    board = study[0].leaderboard
    many = pd.concat([board] * -(-60 // len(board)), ignore_index=True).head(60)
    many["system"] = [f"vendor-of-a-model/with-a-long-name-{n}" for n in range(60)]
    html = full_report(replace(study[0], leaderboard=many), [])
    histogram, forest = json.loads(re.search(r'id="figures">(.*?)</script>', html)[1])
    assert len(forest["layout"]["yaxis"]["ticktext"]) == 60
    assert not any("<br>" in name for name in forest["layout"]["yaxis"]["ticktext"])
    assert forest["layout"]["height"] == PAGE > histogram["layout"]["height"]
    assert html.index("Measurability of the rubrics") < html.index("Ability with its 95% interval")


def test_the_html_report_is_one_file_with_figures_settings_limits_versions_and_the_command(study):
    result, results = study
    html = full_report(result, results, "python -m crubric_core build --seed 0")
    assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="?http', html)
    assert "default-src 'none'" in html
    drawn = re.findall(r'data-figure="(\d+)"', html)
    assert drawn == [str(n) for n in range(len(drawn))]
    assert len(json.loads(re.search(r'id="figures">(.*?)</script>', html)[1])) == len(drawn)
    assert len(drawn) == 2 + sum(len(EXPERIMENTS[found.name].charts) for found in results)
    assert html.count("plotly.js v") <= 2  # the library is in it once
    record = {**settings_words(result.settings.as_dict()), **versions()}
    for text in ("python -m crubric_core build --seed 0", result.fingerprint, *record, *record.values()):
        assert f">{text}</d" in html
    for found in results:
        assert f">{EXPERIMENTS[found.name].title}</h2>" in html
        for sentence in (found.found, *found.limits):
            assert str(escape(sentence)) in html
    assert html.count(f"<h3>{LIMITS}</h3>") == 1 + sum(bool(found.limits) for found in results)


def test_both_reports_are_the_same_bytes_each_time(study, tmp_path):
    result, results = study
    for folder in ("a", "b"):
        write_report(result, results, "", tmp_path / folder)
    for name in ("report.html", "report.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_markdown_report_holds_settings_limits_versions_and_the_command(study):
    result, results = study
    text = re.sub(r"\\(.)", r"\1", report_markdown(result, results, "python -m crubric_core build --seed 0"))
    for said in ("python -m crubric_core build --seed 0", result.fingerprint, "tau_c", "numpy", "seed"):
        assert said in text
    for found in results:
        assert f"## {EXPERIMENTS[found.name].title}" in text
        for sentence in (found.found, *found.limits):
            assert sentence in text


def test_hostile_names_are_text_in_both_reports(study):
    result, results = study
    assert HOSTILE in result.leaderboard["system"].tolist()
    html = full_report(result, results)
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html
    markdown = report_markdown(result, results)
    assert "<script>" not in markdown
    assert r"\<script\>alert(1)\</script\>\|\[x\](javascript:1)" in markdown


def test_tables_show_unknown_as_a_dash_and_whole_numbers_whole():
    table = pd.DataFrame(
        {"a|b": [1.0, np.nan, 0.12345], "yes": [True, False, True], "none": [None, "x", "y"]}
    )
    assert markdown_table(table).splitlines() == [
        r"| a\|b | yes | none |",
        "| --- | --- | --- |",
        "| 1 | yes | — |",
        "| — | no | x |",
        "| 0.1235 | yes | y |",
    ]
    assert '<td class="number">—</td><td class="text">no</td><td class="text">x</td>' in call(
        "parts.html", "plain_table", sheet(table, "t")
    )


def test_of_few_systems_no_pairs_of_rubrics_are_counted_and_what_no_strategy_reaches_is_said_once():
    rows = [f"s{i},q{j // 2},q{j // 2}-{j},k,{(i + j * j) % 2}" for i in range(3) for j in range(12)]
    with Workspace() as ws:
        ws.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "tiny", format="csv")
        check, split = (
            run_experiment(name, ws.dataset("tiny"), SETTINGS, **QUICK.get(name, {}))
            for name in ("model_check", "crossfit")
        )
    assert "No two rubrics were labelled on enough systems to be compared;" in check.found
    assert split.found.endswith("not reached by any strategy.")


def test_lines_of_one_colour_differ_and_no_name_of_a_mark_is_cut(study):
    found = {result.name: dict(experiment_figures(result)) for result in study[1]}
    (lines, *_) = found["new_systems"].values()
    looks = [(line.line.color, line.line.dash) for line in lines.data]
    assert len(set(looks)) == len(looks) > 6
    cost = found["sweep"]["What the agreement costs in rubrics"]
    assert cost.layout.xaxis.range[1] > max(cost.data[0].x) + 0.1
