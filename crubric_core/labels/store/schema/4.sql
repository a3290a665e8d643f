-- A dataset may be scored by rules of its own.

CREATE TABLE IF NOT EXISTS scoring_rules (
    dataset_id INTEGER PRIMARY KEY,
    rules VARCHAR NOT NULL  -- JSON
);
