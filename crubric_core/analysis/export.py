"""Write a Result to files: four tables and one report, with the same bytes for the same inputs and seed."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from ..errors import ExportError
from ..files import csv_bytes, json_bytes, write_files, write_whole
from ..labels.store.dataset import Dataset
from .result import Result
from .standings import claimed

_PACKAGES = ("numpy", "scipy", "pandas", "duckdb")
FILES = ("bank.csv", "items.csv", "measurability.csv", "leaderboard.csv", "report.json")


def write_result(result: Result, folder: str | Path) -> list[Path]:
    """Write the five FILES into ``folder``, each of them whole or not at all, and return their paths.

    Raises ExportError if they cannot be written.
    """
    tables = {
        "bank.csv": result.bank,
        "items.csv": result.items,
        "measurability.csv": result.measurability,
        "leaderboard.csv": claimed(result.leaderboard, result.verdict),
    }
    contents = {name: csv_bytes(table) for name, table in tables.items()}
    contents["report.json"] = json_bytes(report(result))
    return write_files({name: contents[name] for name in FILES}, folder)


def write_dataset(dataset: Dataset, folder: str | Path, file_format: Literal["csv", "parquet"]) -> list[Path]:
    """Write the dataset's tables into ``folder`` and return their paths; ingested in this order, they restore it.

    Parquet keeps every text as it is. CSV is safe for spreadsheets; read it with the policy ``apostrophes="strip"``.
    Raises ExportError if the folder cannot be written.
    """
    out, written = Path(folder), []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, table in dataset.tables().items():
            content = csv_bytes(table) if file_format == "csv" else table.to_parquet(index=False)
            written.append(write_whole(out / f"{name}.{file_format}", content))
    except OSError as error:
        raise ExportError(
            f"The dataset could not be written to {out} ({error.strerror}): name a folder that can be written."
        ) from error
    return written


def report(result: Result) -> dict[str, Any]:
    """The content of report.json: dataset, settings, claims, main figures and versions; unknown numbers are null."""
    reduction, calibration, fit = result.reduction, result.calibration, result.calibration.fit
    feasible = result.measurability["feasible"]
    ranked = claimed(result.leaderboard, result.verdict).dropna(subset=["tier"])
    where = [name for name in ("group", "tier") if name in ranked]
    return {
        "dataset": {
            "name": result.dataset,
            "fingerprint": result.fingerprint,
            "systems": len(reduction.systems),
            "queries": int(reduction.rubrics["query"].nunique()),
            "rubrics": len(reduction.rubrics),
            "judges": reduction.n_judges,
            "judge_names": list(result.judges),
            "labels": reduction.n_labels,
        },
        "settings": result.settings.as_dict(),
        "claims": {name: list(value) for name, value in _claims(result).items()},
        "warnings": list(result.warnings),
        "measurability": {
            "gate": result.gate,
            "statistic": result.gating.statistic,
            "threshold": result.gating.threshold,
            "threshold_given": result.gating.given,
            "prior": [result.gating.prior.alpha, result.gating.prior.beta],
            "informative": result.verdict.informative,
            "information_kept": result.verdict.information,
            "enough_for_claims": result.verdict.holds,
            "feasible": int(feasible.sum()),
            "dropped": int((~feasible).sum()),
        },
        "fit": {
            "model": fit.model,
            "quadrature": fit.quadrature,
            "converged": fit.converged,
            "evaluations": fit.evaluations,
            "loglik": fit.loglik,
            "logpost": fit.logpost,
            "parameters": fit.n_parameters,
            "constant_rubrics": int(fit.constant.sum()),
            "aberrant_rubrics": int((calibration.item_rest < 0).sum()),
        },
        "bank": {
            "size": len(result.bank),
            "utility": float(result.bank["utility"].iloc[-1]),
            "certificate": result.certificate,
            "queries": int(result.bank["query"].nunique()),
        },
        "tiers": [
            {**dict(zip(where, place, strict=True)), "systems": rows["system"].tolist()}
            for place, rows in ranked.astype(dict.fromkeys(where, object)).groupby(where)
        ],
        "versions": versions(),
    }


def _claims(result: Result) -> dict[str, tuple[str, ...]]:
    """The claims by part: headline, basis, beside, reading and limits."""
    found = result.claims
    parts = {"headline": found.headline, "basis": found.basis, "beside": found.beside}
    return parts | {"reading": found.reading, "limits": found.limits}


def versions() -> dict[str, str]:
    """Name → version of Python and the numerical libraries; "unknown" if one is not installed as a package."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
