"""The scoring rules of a dataset, where somebody has edited the paper's; kept with its labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ...scoring_rules import ScoringRules
from .database import dataset_id_of

if TYPE_CHECKING:
    import duckdb

    from .database import Database


def save_rules(workspace: Database, dataset: str, rules: ScoringRules) -> None:
    """Keep the rules of a dataset, in place of those kept before; the paper's put it back to the start."""
    with workspace.writing() as cursor:
        dataset_id = dataset_id_of(cursor, dataset)
        cursor.execute(
            "INSERT OR REPLACE INTO scoring_rules VALUES (?, ?)", [dataset_id, json.dumps(rules.as_dict())]
        )


def load_rules(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> ScoringRules:
    """The dataset's own rules, or the paper's."""
    found = cursor.execute("SELECT rules FROM scoring_rules WHERE dataset_id = ?", [dataset_id]).fetchone()
    return ScoringRules() if found is None else ScoringRules.from_json(found[0])
