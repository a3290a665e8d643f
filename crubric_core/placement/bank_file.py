"""bank.json: a bank as one portable file, which is all that placing a system needs.

``schema`` names the layout; a reader refuses any other. ``digest`` is a hash of everything else, so that a damaged or
edited file is refused and not misread. Unknown numbers are null. Equal banks give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..analysis.export import versions
from ..bank.item_spread import Spread
from ..environment import typed
from ..errors import CrubricError, PlacementError
from ..files import json_bytes, write_files
from ..leaderboard.reference import Reference
from ..settings import Settings
from ..text import shorten
from ..types import FloatArray, IntArray
from .bank_scale import RUBRICS, BankScale, fixed_fit
from .panel import PairAgreement, PanelRecord

SCHEMA = "crubric-bank/1"
NAME = "bank.json"
_PARAMETERS = ("a", "b", "c", "log_a_sd", "b_sd", "log_a_b_correlation")
_WHOLE = ("order", "scale_min", "scale_max", "pass_mark", "polarity")
_TEXTS = ("id", "query", "rubric", "text", "dimension")


def write_bank(bank_scale: BankScale, folder: str | Path) -> Path:
    """Write bank.json into ``folder``; raises ExportError."""
    return write_files({NAME: bank_bytes(bank_scale)}, folder)[0]


def bank_bytes(bank_scale: BankScale) -> bytes:
    """The content of bank.json as bytes."""
    content = json.loads(json_bytes(_content(bank_scale)))
    head = {"schema": SCHEMA, "bank_id": bank_scale.bank_id, "digest": _digest(content)}
    return json_bytes({**head, **content})


def bank_digest(bank_scale: BankScale) -> str:
    """The digest in the bank's file."""
    return _digest(json.loads(json_bytes(_content(bank_scale))))


def read_bank(path: str | Path) -> BankScale:
    """Read a bank from a bank.json, or from a folder that contains one. Raises PlacementError."""
    file = Path(path)
    file = file / NAME if file.is_dir() else file
    try:
        content = file.read_bytes()
    except OSError as error:
        raise PlacementError(
            f"{path} holds no bank ({error.strerror}): name a bank.json, or the folder "
            f"where `{typed('build')}` wrote one."
        ) from error
    return read_bank_bytes(content, str(path))


def read_bank_bytes(content: bytes, name: str) -> BankScale:
    """Read a bank from the bytes of a bank.json; name: its name in messages. Raises PlacementError."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise PlacementError(
            f"{name} is no bank.json: it cannot be read as JSON. Export it again."
        ) from error
    schema = found.get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        said = f"its schema is {shorten(str(schema), 40)!r}" if schema is not None else "it names no schema"
        raise PlacementError(
            f"{name} cannot be read as a bank: {said}, where {SCHEMA!r} is expected. "
            f"Run `{typed('build')}` again."
        )
    rest = {key: value for key, value in found.items() if key not in ("schema", "bank_id", "digest")}
    if found.get("digest") != _digest(rest):
        raise PlacementError(
            f"{name} was damaged or edited since it was written: its digest does not match. Export it again."
        )
    try:
        bank_scale = _bank_scale(rest)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, CrubricError) as error:
        raise PlacementError(
            f"{name} is not as {SCHEMA} has it ({type(error).__name__}: {error}): "
            f"run `{typed('build')}` again."
        ) from error
    if bank_scale.bank_id != found.get("bank_id"):
        raise PlacementError(
            f"{name} names the bank {found.get('bank_id')}, but its rubrics are those of {bank_scale.bank_id}: "
            "export it again."
        )
    return bank_scale


def _digest(content: dict[str, Any]) -> str:
    said = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(said.encode()).hexdigest()


def _content(bank_scale: BankScale) -> dict[str, Any]:
    panel = bank_scale.panel
    by_order = np.argsort(bank_scale.rubrics["order"].to_numpy(), kind="stable")
    return {
        "source": {
            "dataset": bank_scale.name,
            "fingerprint": bank_scale.fingerprint,
            "settings": bank_scale.settings.as_dict(),
            "judges": list(bank_scale.judges),
            "versions": versions(),
        },
        "queries": _records(bank_scale.queries),
        "rubrics": [_rubric(bank_scale, row) for row in by_order.tolist()],
        "systems": [
            {"system": name, "labels": _levels(labels[by_order])}
            for name, labels in zip(bank_scale.systems, bank_scale.y, strict=True)
        ],
        "reference": None if bank_scale.reference is None else bank_scale.reference.record(),
        "transfer_variance": None if np.isnan(bank_scale.transfer) else bank_scale.transfer,
        **({} if bank_scale.person_fit is None else {"person_fit": bank_scale.person_fit.tolist()}),
        **({"history": list(bank_scale.history)} if bank_scale.history else {}),
        "panel": None
        if panel is None
        else {
            "judges": list(panel.judges),
            "agreement": panel.agreement[by_order].tolist(),
            "leniency": panel.leniency[by_order].tolist(),
            "systems": panel.systems,
            "agreement_sd": panel.agreement_sd,
            "leniency_sd": panel.leniency_sd.tolist(),
            **_by_pair(panel, by_order),
        },
    }


def _rubric(bank_scale: BankScale, row: int) -> dict[str, Any]:
    fit, spread = bank_scale.fit, bank_scale.spread
    described = _records(bank_scale.rubrics.iloc[[row]])[0]
    parameters = (fit.a, fit.b, fit.c, spread.log_a, spread.b, spread.correlation)
    return {
        **{key: int(value) if key in _WHOLE else value for key, value in described.items()},
        "levels": int(fit.levels[row]),
        "parameters": {
            **{name: float(values[row]) for name, values in zip(_PARAMETERS, parameters, strict=True)},
            "thresholds": None if fit.thresholds is None else fit.thresholds[row].tolist(),
        },
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(key): None if pd.isna(value) else value for key, value in row.items()}
        for row in table.to_dict("records")
    ]


def _levels(labels: FloatArray) -> list[int | None]:
    return [None if np.isnan(label) else int(label) for label in labels]


def _bank_scale(content: dict[str, Any]) -> BankScale:
    source, rows = content["source"], content["rubrics"]
    table = pd.DataFrame(rows)[list(RUBRICS)]
    if not len(table) or table["id"].duplicated().any():
        raise ValueError("no rubrics, or two of one id")
    order = _canonical(table)
    settings = Settings.from_dict(source["settings"])
    a, b, c, *spread = (_numbers([row["parameters"][name] for row in rows])[order] for name in _PARAMETERS)
    thresholds = (
        _numbers([row["parameters"]["thresholds"] for row in rows]) if settings.model == "GRM" else None
    )
    y = _numbers([system["labels"] for system in content["systems"]])
    if y.shape != (len(content["systems"]), len(rows)):
        raise ValueError("systems and rubrics do not belong together")
    reference = None if content["reference"] is None else Reference.from_record(content["reference"])
    if reference is not None and len(reference.theta) != len(y):
        raise ValueError("systems and reference do not belong together")
    return BankScale(
        name=str(source["dataset"]),
        fingerprint=str(source["fingerprint"]),
        settings=settings,
        judges=tuple(map(str, source["judges"])),
        systems=tuple(str(system["system"]) for system in content["systems"]),
        queries=pd.DataFrame(content["queries"], columns=["query", "text", "domain"], dtype=object),
        rubrics=_typed(table.iloc[order].reset_index(drop=True)),
        fit=fixed_fit(
            settings,
            a,
            b,
            c,
            None if thresholds is None else thresholds[order],
            np.array([int(row["levels"]) for row in rows], dtype=np.int64)[order],
        ),
        y=y[:, order],
        spread=Spread(*spread),
        reference=reference,
        panel=_panel(content["panel"], order, len(rows)),
        transfer=float(_numbers([content["transfer_variance"]])[0]),
        person_fit=_numbers(content["person_fit"]) if "person_fit" in content else None,
        history=tuple(dict(entry) for entry in content.get("history", ())),
    )


def _canonical(table: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Positions of the rows sorted as in a study: by query, then by name."""
    names = [(str(q), str(r)) for q, r in zip(table["query"], table["rubric"], strict=True)]
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    whole = {name: table[name].astype("int64") for name in _WHOLE}
    texts = {name: table[name].astype(object).where(table[name].notna(), None) for name in _TEXTS}
    return table.assign(**whole, **texts, points=_numbers(table["points"].tolist()))


def _numbers(values: list[Any]) -> FloatArray:
    """An array of numbers, or of rows of numbers; null becomes NaN."""
    if values and isinstance(values[0], list):
        return np.array([[np.nan if v is None else float(v) for v in row] for row in values], dtype=float)
    return np.array([np.nan if v is None or pd.isna(v) else float(v) for v in values], dtype=float)


def _by_pair(panel: PanelRecord, order: IntArray) -> dict[str, Any]:
    """The panel's fields that older files lack."""
    pair, expected = panel.by_pair, panel.expected
    return {
        **({} if expected is None else {"expected_agreement": expected[order].tolist()}),
        **(
            {}
            if pair is None or not pair.sd.size
            else {
                "equal_by_pair": pair.equal[order].tolist(),
                "cells_by_pair": pair.pairs[order].tolist(),
                "agreement_sd_by_pair": pair.sd.tolist(),
            }
        ),
    }


def _panel(content: dict[str, Any] | None, order: Any, n_rubrics: int) -> PanelRecord | None:
    if content is None:
        return None
    judges = tuple(map(str, content["judges"]))
    leniency = _numbers(content["leniency"]).reshape(n_rubrics, len(judges))
    unknown = [None] * len(judges)  # in older files
    return PanelRecord(
        judges,
        _numbers(content["agreement"])[order],
        leniency[order],
        int(content.get("systems", 0)),
        float(_numbers([content.get("agreement_sd")])[0]),
        _numbers(content.get("leniency_sd", unknown)),
        _pairs(content, order, len(judges) * (len(judges) - 1) // 2),
        _numbers(content["expected_agreement"])[order] if "expected_agreement" in content else None,
    )


def _pairs(content: dict[str, Any], order: Any, n_pairs: int) -> PairAgreement | None:
    if "equal_by_pair" not in content:
        return None
    equal, cells = (
        _numbers(content[name]).reshape(len(order), n_pairs)[order].astype(np.int64)
        for name in ("equal_by_pair", "cells_by_pair")
    )
    return PairAgreement(equal, cells, _numbers(content["agreement_sd_by_pair"]))
