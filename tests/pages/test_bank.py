"""The Bank page as a working table: what is asked is kept, told, undone, and carried by the address."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from crubric_core import Composition, Settings, Workspace, fit_irt, run_pipeline
from crubric_core.analysis.composition import HELD_OUT, ids_of
from crubric_core.composition import Limit
from crubric_core.demo import simulate
from crubric_core.irt.information import item_information
from crubric_core.ui.bank.sections import little_information
from tests.pages.conftest import Open, size_box, size_slider


def said(app: AppTest) -> str:
    parts = (*app.header, *app.warning, *app.markdown, *app.caption, *app.error)
    return " ".join(str(part.value) for part in parts).replace("\\", "")


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


def some_ids(study: Path) -> tuple[str, ...]:
    with Workspace(study) as workspace:
        return ids_of(workspace.dataset("small").rubrics)


def address(composition: Composition) -> str:
    return json.dumps(composition.as_dict(), separators=(",", ":"))


def test_a_bound_is_added_told_kept_on_other_pages_and_reset(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, dataset="small", budget="12", compose="Bounds")
    assert not app.exception
    assert "composed by hand" not in said(app)
    app.number_input(key="bound most").set_value(1).run()
    app = press(app, "Add")
    assert not app.exception
    assert "The bank is composed by hand: 1 bound on groups." in said(app)
    assert "The bank is composed by hand; the parts below show how, and reset it." in said(app)
    assert HELD_OUT in said(app)
    assert app.query_params["composition"] == address(Composition(limits=(Limit("query", None, 0, 1),)))
    assert "at most 1 of each query" in said(app)
    app = press(app, "Remove")
    assert "composed by hand" not in said(app)
    assert "composition" not in app.query_params


def test_a_bound_offers_the_groups_that_rubrics_and_queries_have(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, dataset="small", budget="12", compose="Bounds")
    with Workspace(study) as workspace:
        ds = workspace.dataset("small")
        have = {"severity": ds.rubrics["severity"], "domain": ds.queries["domain"]}
    for by, groups in have.items():
        app = app.selectbox(key="bound by").set_value(by).run()
        assert app.selectbox(key=f"bound value {by}").options == sorted(set(groups.dropna()))


def test_what_an_address_asks_is_asked_and_what_changed_is_told(open_page: Open, study: Path) -> None:
    ids = some_ids(study)
    asked = Composition(exclusions=ids[:40])
    app = open_page(
        "bank", study, dataset="small", budget="12", compose="What changed", composition=address(asked)
    )
    assert not app.exception
    assert "40 excluded" in said(app)
    assert "compared with the bank that the strategy alone chooses" in said(app)
    assert "a difference of" in said(app)


def test_the_largest_size_is_that_of_the_pool_with_pins_and_without_what_is_excluded(
    open_page: Open, study: Path
) -> None:
    """Each pin counted as one more, whether or not it passes anyway; what is excluded still counted."""

    def largest(**asked: str) -> int:
        return int(size_slider(open_page("bank", study, dataset="small", **asked)).options[-1])

    with Workspace(study) as workspace:
        bank = run_pipeline(workspace.dataset("small"), Settings(budget=4)).bank["id"].tolist()
    asked = Composition(pins=tuple(bank[:2]), exclusions=(bank[2],))
    assert largest(composition=address(asked)) == largest() - 1


def test_a_swap_takes_the_best_replacement(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, dataset="small", budget="6", compose="Swap")
    out = app.selectbox(key="swap out").options[0]
    app.selectbox(key="swap out").select(app.selectbox(key="swap out").options[0]).run()
    assert "The others are then chosen anew" in said(app)
    assert f"Out: {out.split()[1]}: " in said(app), "many rubrics may have one text"
    (into,) = (box for box in app.selectbox if box.label.startswith("Swap in"))
    assert not any("-0.00000" in option for option in into.options)
    app = press(app, "Swap")
    assert not app.exception
    assert "1 swapped" in said(app)
    assert out not in app.selectbox(key="swap out").options


def test_what_cannot_be_met_is_told_with_the_means_to_change_it(open_page: Open, study: Path) -> None:
    impossible = Composition(limits=(Limit("query", None, 90),))
    app = open_page("bank", study, dataset="small", composition=address(impossible))
    assert not app.exception
    assert "cannot be met" in said(app)
    app = press(app, "Reset")
    assert not app.error
    assert "cannot be met" not in said(app)


def test_an_address_that_is_no_composition_asks_for_nothing(open_page: Open, study: Path) -> None:
    app = open_page("bank", study, dataset="small", composition="{broken")
    assert not app.exception
    assert "composed by hand" not in said(app)


def test_a_strategy_without_candidates_is_a_note_beside_the_others(open_page: Open, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = ["system,query,rubric,judge,label"]
    for rubric in range(48):
        for system in range(8):
            label = int(rng.random() < (system + 1) / 10)
            flipped = (
                {0} if system == rubric % 8 else set()
            )  # each rubric has a system on which the judges split
            rows += [f"s{system},q{rubric // 3},r{rubric},j{k},{label ^ (k in flipped)}" for k in range(3)]
    with Workspace(tmp_path / "split.duckdb") as workspace:
        workspace.ingest("\n".join(rows).encode(), "split")
    app = open_page("bank", tmp_path / "split.duckdb", part="Certificate", budget="12")
    assert not app.exception
    assert not app.error
    assert "unanimous, at random: No rubric has unanimous judges" in said(app)
    assert "choose pairs, which draws from all that pass." in said(app)
    assert len(app.get("plotly_chart")) >= 3


def test_a_bank_of_the_whole_pool_is_said_to_be_the_best_and_a_smaller_one_to_be_at_least_as_proven(
    open_page: Open, study: Path
) -> None:
    small, whole = (
        said(open_page("bank", study, dataset="small", budget=size, part="Certificate"))
        for size in ("12", "9999")
    )
    assert (
        "The bank reaches 100% of the modelled separation of pairs of the best possible bank of its size"
        in whole
    )
    assert re.search(r"The bank reaches at least \d\d\.\d% of the modelled separation", small)


def test_of_a_tiny_bank_is_said_where_it_tells_less_than_the_prior(open_page: Open, study: Path) -> None:
    tiny, large = (open_page("bank", study, budget=size, part="SE(θ)") for size in ("1", "100"))
    (said,) = (
        caption.value for caption in tiny.caption if "standard deviation of the prior" in caption.value
    )
    assert re.match(r"At the abilities of [1-8] of 8 systems the bank's SE\(θ\) is above 1", said)
    assert not any("standard deviation of the prior" in caption.value for caption in large.caption)


def test_systems_are_counted_at_which_information_is_below_that_of_the_prior() -> None:
    made = simulate(seed=2, systems=8, queries=12, pool=(8, 12))
    with Workspace() as workspace:
        workspace.ingest(made.labels.to_csv(index=False).encode(), "d")
        fit = fit_irt(workspace.dataset("d").reduce().y)
    bank = np.flatnonzero(~fit.constant)[:2]
    below = sum(item_information(fit, np.array([at]))[0][bank].sum() ** -0.5 > 1 for at in fit.theta)
    assert below > 0
    assert little_information(fit, bank).startswith(f"At the abilities of {below} of 8 systems")
    assert little_information(fit, np.arange(len(fit.a))) == ""


def test_of_one_judge_nobody_is_sent_to_what_its_judges_disagree_on(
    open_page: Open, study: Path, tmp_path: Path
) -> None:
    labels = simulate(seed=1, systems=6, queries=6, pool=(8, 10)).labels
    with Workspace(tmp_path / "one.duckdb") as workspace:
        one = labels[labels["judge"] == labels["judge"].min()]
        workspace.ingest(one.to_csv(index=False).encode(), "one judge", format="csv")
    several = open_page("bank", study, dataset="small", part="Gaps", budget="12")
    assert "For rubrics to rewrite" in said(several)
    assert "For rubrics to rewrite" not in said(open_page("bank", tmp_path / "one.duckdb", part="Gaps"))


def test_a_size_that_nobody_chose_is_not_said_to_be_larger_than_the_bank(
    open_page: Open, study: Path
) -> None:
    """The slider ends at the rubrics that can be chosen, also where the dataset has fewer than the default."""
    app = open_page("bank", study)
    assert size_box(app).value == int(size_slider(app).options[-1]), "fewer can be chosen than the default"
    assert "smaller than B" not in said(app)
    chosen = open_page("bank", study, gate="agreement", tau_c="0.8", budget="90")
    assert "The bank is smaller than B = 90" in said(chosen)


def test_without_texts_of_rubrics_the_working_table_has_no_column_for_them(
    open_page: Open, study: Path, tmp_path: Path
) -> None:
    labels = simulate(seed=1, systems=6, queries=6, pool=(8, 10)).labels
    with Workspace(tmp_path / "bare.duckdb") as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "bare", format="csv")
    bare, described = open_page("bank", tmp_path / "bare.duckdb"), open_page("bank", study)
    assert "Not shown, because no row has a value: text." in said(bare)
    assert "no row has a value" not in said(described)
    assert ["text" in app.dataframe[0].proto.column_order for app in (bare, described)] == [False, True]


def test_a_new_system_is_counted_with_as_many_labels_as_a_cell_has(open_page: Open, tmp_path: Path) -> None:
    """With 2 of 5 judges a cell, all five were counted."""
    labels = simulate(seed=1, systems=8, queries=12, judges=5, pool=(6, 8), missing=0).labels
    dealt = labels.sample(frac=1, random_state=0).groupby(["system", "query", "rubric"]).head(2)
    with Workspace(tmp_path / "dealt.duckdb") as workspace:
        workspace.ingest(dealt.to_csv(index=False).encode(), "small")
        rubrics = len(workspace.dataset("small").rubrics)
    each = "with 2 labels each, the rounded mean of a cell (5 judges)"
    app = open_page("bank", tmp_path / "dealt.duckdb", dataset="small", budget="12")
    shown = {metric.label: metric for metric in app.metric}
    assert (shown["Judge calls"].value, shown["Judge calls, all rubrics"].value) == ("24", f"{2 * rubrics}")
    assert shown["Judge calls"].help == f"For a new system: the rubrics of the bank, {each}"
    app = open_page("measurability", tmp_path / "dealt.duckdb", dataset="small", gate="kappa", tau_c="0.05")
    shown = {metric.label: metric for metric in app.metric}
    kept, needs = shown["Informative rubrics kept"], shown["Labels a new system needs"]
    assert int(needs.value) == 2 * int(kept.value) > 0
    assert needs.help == f"The informative rubrics that are kept, {each}"
