"""Store the edited scoring rules of a dataset in its workspace. Without them the paper's rules apply."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ...scoring_rules import ScoringRules
from .database import dataset_id_of

if TYPE_CHECKING:
    import duckdb

    from .database import Database


def save_rules(workspace: Database, dataset: str, rules: ScoringRules) -> None:
    """Store the scoring rules of a dataset, replacing earlier ones. ``ScoringRules()`` restores the paper's rules."""
    with workspace.writing() as cursor:
        dataset_id = dataset_id_of(cursor, dataset)
        cursor.execute(
            "INSERT OR REPLACE INTO scoring_rules VALUES (?, ?)", [dataset_id, json.dumps(rules.as_dict())]
        )


def load_rules(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> ScoringRules:
    """The dataset's stored scoring rules, or the paper's if none are stored."""
    found = cursor.execute("SELECT rules FROM scoring_rules WHERE dataset_id = ?", [dataset_id]).fetchone()
    return ScoringRules() if found is None else ScoringRules.from_json(found[0])
