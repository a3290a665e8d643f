-- Repeated draws (run), a judge's reason for a label, the systems' answers, what is known of a system, and the pass
-- mark of an ordered scale. The cache of results and that of the task-type classifier, once made when first needed,
-- belong to the schema from here on.

CREATE TABLE runs (
    run_id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL,
    name VARCHAR NOT NULL        -- one run per (dataset, name)
);
ALTER TABLE labels ADD COLUMN run_id INTEGER DEFAULT 0; -- 0: the file names no run
ALTER TABLE labels ADD COLUMN reason VARCHAR;           -- what the judge gave as its reason
ALTER TABLE gold ADD COLUMN reason VARCHAR;
ALTER TABLE anchors ADD COLUMN reason VARCHAR;
ALTER TABLE aside ADD COLUMN run_id INTEGER DEFAULT 0;
ALTER TABLE aside ADD COLUMN reason VARCHAR;
ALTER TABLE moved ADD COLUMN run_id INTEGER DEFAULT 0;

ALTER TABLE rubrics ADD COLUMN pass_mark INTEGER;       -- the lowest label that counts as met; NULL: the midpoint
ALTER TABLE rubric_statements ADD COLUMN pass_mark INTEGER;

ALTER TABLE rejects ADD COLUMN file VARCHAR;            -- NULL: the ingest read one file

CREATE TABLE answers (           -- one row per (dataset, system, query, ingest); the last ingest's counts
    dataset_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    query_id INTEGER NOT NULL,
    text VARCHAR NOT NULL,
    ingest_id INTEGER NOT NULL,
    "row" BIGINT NOT NULL
);

CREATE TABLE system_facts (      -- one row per (dataset, system, column, ingest); the last ingest's counts
    dataset_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    name VARCHAR NOT NULL,       -- organisation, date, cost, licence, or any other column of the file
    value VARCHAR NOT NULL,
    ingest_id INTEGER NOT NULL,
    "row" BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS results (
    fingerprint VARCHAR NOT NULL,      -- of the dataset's content
    kind VARCHAR NOT NULL,             -- what was computed
    key VARCHAR NOT NULL,              -- hash of all that it was computed with
    content VARCHAR NOT NULL,          -- JSON
    stored_at TIMESTAMP NOT NULL
);

CREATE TABLE IF NOT EXISTS typer_answers (
    key VARCHAR PRIMARY KEY,           -- hash of model, instruction and query
    model VARCHAR NOT NULL,
    probabilities DOUBLE[4] NOT NULL,  -- in the order of the task types
    prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    answered_at TIMESTAMP NOT NULL DEFAULT current_timestamp
);
