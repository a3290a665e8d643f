-- What each ingest said is kept, so that any of them can be taken back: labels, gold and anchors hold what counts now,
-- aside what other ingests said of the same key, the statements what each said of a rubric, a query or a system.
-- Descriptions from before are taken for what their last ingest said.

ALTER TABLE queries ADD COLUMN IF NOT EXISTS type_source VARCHAR;
ALTER TABLE rubrics ADD COLUMN polarity INTEGER; -- -1: a label that meets the rubric is bad; NULL: the weight's sign
ALTER TABLE ingests ADD COLUMN changes VARCHAR;     -- JSON: what it added, changed, filled in; NULL: from before
ALTER TABLE ingests ADD COLUMN policies VARCHAR;    -- the choices other than the usual ones
ALTER TABLE ingests ADD COLUMN fingerprint VARCHAR; -- of the dataset when the ingest was done

CREATE TABLE anchors (           -- one row per (dataset, rubric, annotator)
    dataset_id INTEGER NOT NULL,
    rubric_id INTEGER NOT NULL,
    judge_id INTEGER NOT NULL,   -- the annotator
    label INTEGER,               -- 1: the rubric is valid, 0: it is not
    ingest_id INTEGER NOT NULL,
    "row" BIGINT NOT NULL
);

CREATE TABLE aside (             -- earlier values, repeats and blanks, each with the ingest that said it
    kind VARCHAR NOT NULL,       -- labels, gold or anchors
    dataset_id INTEGER NOT NULL,
    system_id INTEGER,
    rubric_id INTEGER NOT NULL,
    judge_id INTEGER NOT NULL,
    label INTEGER,
    ingest_id INTEGER NOT NULL,
    "row" BIGINT NOT NULL
);

CREATE TABLE moved (             -- rows that came without a query, given to the only rubric of their name
    kind VARCHAR NOT NULL,
    dataset_id INTEGER NOT NULL,
    system_id INTEGER,
    judge_id INTEGER NOT NULL,
    old_rubric_id INTEGER NOT NULL,
    new_rubric_id INTEGER NOT NULL,
    said_by INTEGER NOT NULL,    -- the ingest of the row
    ingest_id INTEGER NOT NULL   -- the ingest that brought the query
);

CREATE TABLE query_statements (
    dataset_id INTEGER NOT NULL,
    query_id INTEGER NOT NULL,
    text VARCHAR,
    domain VARCHAR,
    task_type VARCHAR,
    p_evidence_reasoning DOUBLE,
    p_decision_support DOUBLE,
    p_high_risk_constraint DOUBLE,
    p_creative_divergent DOUBLE,
    type_source VARCHAR,
    omega DOUBLE,
    ingest_id INTEGER NOT NULL,
    "row" BIGINT NOT NULL
);
INSERT INTO query_statements
SELECT dataset_id, query_id, text, domain, task_type, p_evidence_reasoning, p_decision_support,
       p_high_risk_constraint, p_creative_divergent, type_source, omega, ingest_id, "row"
FROM queries WHERE ingest_id IS NOT NULL;

CREATE TABLE rubric_statements (
    dataset_id INTEGER NOT NULL,
    rubric_id INTEGER NOT NULL,
    text VARCHAR,
    scale_min INTEGER,
    scale_max INTEGER,
    weight DOUBLE,
    dimension VARCHAR,
    severity VARCHAR,
    polarity INTEGER,
    ingest_id INTEGER NOT NULL,
    "row" BIGINT NOT NULL
);
INSERT INTO rubric_statements
SELECT dataset_id, rubric_id, text, scale_min, scale_max, weight, dimension, severity, polarity, ingest_id, "row"
FROM rubrics WHERE ingest_id IS NOT NULL;

CREATE TABLE reference_statements (
    dataset_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    rank DOUBLE,
    score DOUBLE,
    ingest_id INTEGER NOT NULL,
    "row" BIGINT NOT NULL
);
INSERT INTO reference_statements
SELECT dataset_id, system_id, rank, score, ingest_id, "row" FROM reference_ranking WHERE ingest_id IS NOT NULL;
