-- One workspace: every dataset that a person keeps, in long compact tables. Files of higher numbers change them;
-- a new workspace is made by all files in turn, an older one by those that it lacks. Never change a released file.
-- Names are stored once; the long tables hold small surrogate ids. NULL means unknown, everywhere.
-- No constraint guards the long tables: an ingest checks its key in one set-based pass, which is far cheaper.

CREATE TABLE settings (          -- what this file is: application, schema_version
    key VARCHAR PRIMARY KEY,
    value VARCHAR NOT NULL
);

CREATE TABLE datasets (
    dataset_id INTEGER PRIMARY KEY,
    name VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL,
    fingerprint VARCHAR          -- content hash, the same for any order of files and rows
);

CREATE TABLE systems (
    system_id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL,
    name VARCHAR NOT NULL        -- one system per (dataset, name)
);

CREATE TABLE judges (
    judge_id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL,
    name VARCHAR NOT NULL        -- one judge or gold annotator per (dataset, name)
);

CREATE TABLE queries (
    query_id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL,
    name VARCHAR NOT NULL,       -- one query per (dataset, name)
    text VARCHAR,
    domain VARCHAR,
    task_type VARCHAR,
    p_evidence_reasoning DOUBLE,
    p_decision_support DOUBLE,
    p_high_risk_constraint DOUBLE,
    p_creative_divergent DOUBLE,
    type_source VARCHAR,         -- who typed it: offline, prompted:<model>, edited; NULL: the file itself
    omega DOUBLE,                -- weight of the query in the score
    ingest_id INTEGER,           -- the ingest and row that described it last; NULL: only mentioned
    "row" BIGINT
);

CREATE TABLE rubrics (
    rubric_id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL,
    query_id INTEGER,            -- NULL: no file has said which query; then a description holds for every query
    name VARCHAR NOT NULL,       -- one rubric per (dataset, query, name)
    text VARCHAR,
    scale_min INTEGER,
    scale_max INTEGER,
    weight DOUBLE,
    dimension VARCHAR,
    severity VARCHAR,
    ingest_id INTEGER,
    "row" BIGINT
);

CREATE TABLE labels (            -- one row per (dataset, system, rubric, judge)
    dataset_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    rubric_id INTEGER NOT NULL,
    judge_id INTEGER NOT NULL,
    label INTEGER,               -- as given, on the scale of its rubric; NULL: the judge gave none
    ingest_id INTEGER NOT NULL,
    "row" BIGINT NOT NULL
);

CREATE TABLE gold (              -- one row per (dataset, system, rubric, annotator)
    dataset_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    rubric_id INTEGER NOT NULL,
    judge_id INTEGER NOT NULL,   -- the annotator
    label INTEGER,
    ingest_id INTEGER NOT NULL,
    "row" BIGINT NOT NULL
);

CREATE TABLE reference_ranking ( -- one row per (dataset, system)
    reference_id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    rank DOUBLE,
    score DOUBLE,
    ingest_id INTEGER,
    "row" BIGINT
);

CREATE TABLE ingests (
    ingest_id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    ingested_at TIMESTAMP NOT NULL,
    accepted BIGINT NOT NULL,
    rejected BIGINT NOT NULL,
    blank BIGINT NOT NULL,
    collapsed BIGINT NOT NULL,
    replaced BIGINT NOT NULL
);

CREATE TABLE rejects (           -- every row of a file that was left out, and why
    ingest_id INTEGER NOT NULL,
    "row" BIGINT NOT NULL,       -- as a spreadsheet shows it: the header is row 1
    "column" VARCHAR,
    value VARCHAR,
    reason VARCHAR NOT NULL
);
