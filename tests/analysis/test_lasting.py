"""Results that outlast the process: the same to the last bit, never stale, never in the way."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crubric_core import Settings, fit_irt
from crubric_core.analysis import lasting
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.lasting import Lasting, packed, unpacked
from crubric_core.analysis.stage import STAGES, Key, Memory, Stage
from crubric_core.analysis.stages import Analysis
from crubric_core.judges.unequal_panels import UnequalPanels
from crubric_core.leaderboard.cross_fit import fold_fits
from tests.analysis.test_stages import OTHER, dataset  # noqa: F401 - a fixture
from tests.irt.test_prefixes import table

ROOT = Path(__file__).resolve().parents[2]
STAGE = Stage("sum", (), "", heavy=False, lasting=True)


class Disk(Memory):
    """The store of a process: what it keeps itself, and what it finds in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        object.__setattr__(self, "folder", folder)
        object.__setattr__(self, "made", [])

    def once(self, stage: Stage, key: Key, make: Any) -> Any:
        def made() -> Any:
            self.made.append(stage.name)  # type: ignore[attr-defined]
            return make()

        found = Lasting(self.folder)  # type: ignore[attr-defined]
        return super().once(stage, key, lambda: found.once(stage, key, made) if stage.lasting else made())


def analysis(dataset, folder: Path, **settings: Any) -> Analysis:  # noqa: F811
    asked = Settings(replicates=30, tau_c=0.3, budget=8)
    asked = with_rules(dataset, replace(asked, **settings))
    return Analysis(dataset=dataset, fingerprint=dataset.fingerprint, settings=asked, store=Disk(folder))


@pytest.mark.parametrize("model", ["1PL", "2PL", "3PL", "GRM"])
def test_a_fit_and_its_folds_come_back_to_the_last_bit(model: Any) -> None:
    y = table(4 if model == "GRM" else 2, rubrics=12)
    fit = fit_irt(y, model)
    for value in (fit, fold_fits(y, fit)):
        assert pickle.dumps(unpacked(packed(value))) == pickle.dumps(value)


@pytest.mark.parametrize(
    "value", [None, 3, -0.0, np.inf, "a", (), (1, (2.5, np.float64(0.1))), np.bool_(True)]
)
def test_plain_values_come_back_with_their_types(value: Any) -> None:
    found = unpacked(packed(value))
    assert type(found) is type(value)
    assert repr(found) == repr(value)


def test_a_result_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="Settings"):
        packed(Settings())


def test_another_process_finds_all_that_lasts_and_shows_the_same(dataset, tmp_path) -> None:  # noqa: F811
    first, later = analysis(dataset, tmp_path), analysis(dataset, tmp_path)
    for one in (first, later):
        one.worth()
        one.ranking()
        one.dimensions()
    costly = {name for name, stage in STAGES.items() if stage.lasting}
    fits = {"panels", "_model", "_fold_fits", "_dimension_fits"}
    assert costly == {*fits, "_fold_orders", "_random_worth", "_bank_worth"}
    assert costly <= set(first.store.made)
    assert not costly & set(later.store.made)
    for ask in (Analysis.claims, Analysis.worth, lambda a: a.ranking().table.to_csv(), Analysis.bank):
        assert pickle.dumps(ask(first)) == pickle.dumps(ask(later))


@pytest.mark.parametrize("name", ["quadrature", "priors", "cross_fitted"])
def test_other_settings_find_nothing(dataset, tmp_path, name) -> None:  # noqa: F811
    analysis(dataset, tmp_path).folds()
    other = analysis(dataset, tmp_path, **{name: OTHER[name]})
    other.folds()
    assert "_fold_fits" in other.store.made


def test_other_code_finds_nothing(tmp_path, monkeypatch) -> None:
    kept = Lasting(tmp_path)
    kept.once(STAGE, ("labels",), lambda: 1)
    monkeypatch.setattr(lasting, "program", lambda: "later")
    assert kept.once(STAGE, ("labels",), lambda: 2) == 2


def test_other_source_and_other_libraries_are_other_code(tmp_path, monkeypatch) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("a = 1")
    monkeypatch.setattr(lasting, "PACKAGE", tmp_path)
    now = lasting.program.__wrapped__
    found = {now()}
    source.write_text("a = 2")
    found.add(now())
    for library in (lasting.np, lasting.scipy):
        monkeypatch.setattr(library, "__version__", "0.0")
        found.add(now())
    assert len(found) == 4


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b[:90], lambda b: b.replace(b"form", b"from")])
def test_a_damaged_file_is_made_anew(tmp_path, damage) -> None:
    kept = Lasting(tmp_path)
    kept.once(STAGE, ("labels",), lambda: (1, 2))
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert kept.once(STAGE, ("labels",), lambda: (3, 4)) == (3, 4)
    assert kept.once(STAGE, ("labels",), lambda: (5, 6)) == (3, 4)


def test_a_file_is_never_executed(tmp_path) -> None:
    """An array of objects would be unpickled."""
    kept = Lasting(tmp_path)
    kept.once(STAGE, ("labels",), lambda: np.arange(2))
    (path,) = tmp_path.iterdir()
    np.savez(path, form=np.array('{"array": 0}'), **{"0": np.array([print], dtype=object)})
    assert kept.once(STAGE, ("labels",), lambda: "anew") == "anew"


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path) -> None:
    (tmp_path / "file").touch()
    assert Lasting(tmp_path / "file" / "folder").once(STAGE, ("labels",), lambda: 1) == 1


def test_results_that_cannot_be_touched_are_read(tmp_path, monkeypatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError

    kept = Lasting(tmp_path)
    kept.once(STAGE, ("labels",), lambda: 1)
    monkeypatch.setattr("os.utime", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    kept.keep_only(set())
    assert kept.once(STAGE, ("labels",), lambda: 2) == 1


def test_results_of_labels_that_are_gone_go_too(tmp_path) -> None:
    kept = Lasting(tmp_path)
    for labels in ("first", "second"):
        kept.once(STAGE, (labels,), lambda: 1)
    kept.keep_only({"second"})
    assert kept.once(STAGE, ("second",), lambda: 2) == 1
    assert kept.once(STAGE, ("first",), lambda: 2) == 2


def test_the_result_that_was_not_used_longest_makes_room(tmp_path, monkeypatch) -> None:
    kept = Lasting(tmp_path)
    kept.once(STAGE, ("a",), lambda: np.zeros(100))
    size = next(tmp_path.iterdir()).stat().st_size
    monkeypatch.setattr(lasting, "MOST_BYTES", 2 * size)
    for key in ("b", "a", "c"):
        kept.once(STAGE, (key,), lambda: np.ones(100))
    assert len(list(tmp_path.iterdir())) == 2
    assert kept.once(STAGE, ("a",), lambda: None)[0] == 0


def test_of_very_many_small_results_the_latest_are_kept_and_the_folder_is_seldom_looked_through(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(lasting, "MOST_FILES", 3)
    monkeypatch.setattr(lasting, "LOOK_AFTER", 4)
    kept, counts = Lasting(tmp_path), []
    for key in range(8):
        kept.once(STAGE, (key,), lambda: 1)
        counts.append(len(list(tmp_path.iterdir())))
    assert counts == [1, 2, 3, 3, 4, 5, 6, 3]
    assert [kept.once(STAGE, (key,), lambda: 2) for key in (5, 6, 7)] == [1, 1, 1]


def test_a_name_is_the_same_in_every_process() -> None:
    """Settings with several limits and rules, under two seeds of Python's own hashes."""
    code = "from tests.analysis.test_stages import *\nprint(repr(replace(PLAIN, **OTHER)))"
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1]
    assert " at 0x" not in said[0]


def test_panels_come_back_to_the_last_bit() -> None:
    panels = UnequalPanels(
        *(np.random.default_rng(1).normal(size=size) for size in (5, (5, 3), (5, 5), (5, 0)))
    )
    assert pickle.dumps(unpacked(packed(panels))) == pickle.dumps(panels)
