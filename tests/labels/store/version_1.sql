-- A workspace as version 1 wrote it: two datasets, every kind of table, replaced labels, rejects and an edited type.

CREATE TABLE datasets(dataset_id INTEGER PRIMARY KEY, "name" VARCHAR NOT NULL, created_at TIMESTAMP NOT NULL, fingerprint VARCHAR);
INSERT INTO datasets VALUES
    (1, 'fin', TIMESTAMP '2026-01-01 12:00:00', '67dc20fbe559c6458c88397d035d76a9'),
    (2, 'tiny', TIMESTAMP '2026-01-01 12:00:00', '1d0e019dc1ced676ef737be3eb0b2a63');

CREATE TABLE gold(dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, rubric_id INTEGER NOT NULL, judge_id INTEGER NOT NULL, "label" INTEGER, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL);
INSERT INTO gold VALUES
    (1, 2, 1, 3, 1, 5, 2),
    (1, 3, 1, 3, 0, 5, 3);

CREATE TABLE ingests(ingest_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, kind VARCHAR NOT NULL, "source" VARCHAR NOT NULL, ingested_at TIMESTAMP NOT NULL, accepted BIGINT NOT NULL, rejected BIGINT NOT NULL, blank BIGINT NOT NULL, collapsed BIGINT NOT NULL, replaced BIGINT NOT NULL);
INSERT INTO ingests VALUES
    (1, 1, 'rubrics', 'rubrics.csv', TIMESTAMP '2026-01-01 12:00:00', 3, 0, 0, 0, 0),
    (2, 1, 'queries', 'queries.csv', TIMESTAMP '2026-01-01 12:00:00', 2, 0, 0, 0, 0),
    (3, 1, 'labels', 'labels.csv', TIMESTAMP '2026-01-01 12:00:00', 7, 1, 1, 0, 0),
    (4, 1, 'labels', 'corrections.csv', TIMESTAMP '2026-01-01 12:00:00', 2, 0, 0, 0, 1),
    (5, 1, 'gold', 'gold.csv', TIMESTAMP '2026-01-01 12:00:00', 2, 0, 0, 0, 0),
    (6, 1, 'reference', 'reference.csv', TIMESTAMP '2026-01-01 12:00:00', 2, 0, 0, 0, 0),
    (7, 1, 'queries', 'task types (edited)', TIMESTAMP '2026-01-01 12:00:00', 1, 0, 0, 0, 0),
    (8, 2, 'labels', 'tiny.csv', TIMESTAMP '2026-01-01 12:00:00', 2, 0, 0, 0, 0);

CREATE TABLE judges(judge_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, "name" VARCHAR NOT NULL);
INSERT INTO judges VALUES
    (2, 1, 'k'),
    (1, 1, 'j'),
    (3, 1, 'ann'),
    (4, 2, 'j');

CREATE TABLE labels(dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, rubric_id INTEGER NOT NULL, judge_id INTEGER NOT NULL, "label" INTEGER, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL);
INSERT INTO labels VALUES
    (1, 2, 1, 1, 0, 4, 2),
    (1, 2, 2, 1, 0, 3, 3),
    (1, 2, 3, 1, 5, 3, 4),
    (1, 3, 1, 1, 0, 3, 5),
    (1, 3, 2, 1, 1, 4, 3),
    (1, 3, 3, 2, 3, 3, 7),
    (1, 1, 1, 2, 1, 3, 9),
    (2, 4, 4, 4, 1, 8, 2),
    (2, 5, 4, 4, 0, 8, 3);

CREATE TABLE queries(query_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, "name" VARCHAR NOT NULL, "text" VARCHAR, "domain" VARCHAR, task_type VARCHAR, p_evidence_reasoning DOUBLE, p_decision_support DOUBLE, p_high_risk_constraint DOUBLE, p_creative_divergent DOUBLE, type_source VARCHAR, omega DOUBLE, ingest_id INTEGER, "row" BIGINT);
INSERT INTO queries VALUES
    (1, 1, 'q1', 'How?', 'law', 'decision_support', 0.0, 1.0, 0.0, 0.0, 'edited', 1.0, 7, 2),
    (2, 1, 'q2', 'Why?', 'health', 'creative_divergent', NULL, NULL, NULL, NULL, NULL, 2.0, 2, 3);

CREATE TABLE reference_ranking(reference_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, rank DOUBLE, score DOUBLE, ingest_id INTEGER, "row" BIGINT);
INSERT INTO reference_ranking VALUES
    (1, 1, 2, 1.0, 0.5, 6, 2),
    (2, 1, 3, 2.0, NULL, 6, 3);

CREATE TABLE rejects(ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL, "column" VARCHAR, "value" VARCHAR, reason VARCHAR NOT NULL);
INSERT INTO rejects VALUES
    (3, 8, 'label', '9', '9 lies outside the scale of r1, 1 to 5');

CREATE TABLE results(fingerprint VARCHAR NOT NULL, kind VARCHAR NOT NULL, "key" VARCHAR NOT NULL, "content" VARCHAR NOT NULL, stored_at TIMESTAMP NOT NULL);
INSERT INTO results VALUES
    ('1d0e019dc1ced676ef737be3eb0b2a63', 'crossfit', 'de7d7744ccd7722e315c562dad156564', '{"auc": 0.5}', TIMESTAMP '2026-01-01 12:00:00');

CREATE TABLE rubrics(rubric_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, query_id INTEGER, "name" VARCHAR NOT NULL, "text" VARCHAR, scale_min INTEGER, scale_max INTEGER, weight DOUBLE, dimension VARCHAR, severity VARCHAR, ingest_id INTEGER, "row" BIGINT);
INSERT INTO rubrics VALUES
    (1, 1, 1, 'r1', 'Names the source', 0, 1, 2.0, 'evidence', 'critical', 1, 2),
    (2, 1, 1, 'r2', 'It''s brief', 0, 1, NULL, NULL, NULL, 1, 3),
    (3, 1, 2, 'r1', 'Warns, where it must', 1, 5, 1.0, 'safety', 'moderate', 1, 4),
    (4, 2, NULL, 'r', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

CREATE TABLE settings("key" VARCHAR PRIMARY KEY, "value" VARCHAR NOT NULL);
INSERT INTO settings VALUES
    ('application', 'calibrated-rubric'),
    ('schema_version', '1');

CREATE TABLE systems(system_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, "name" VARCHAR NOT NULL);
INSERT INTO systems VALUES
    (3, 1, 'b'),
    (2, 1, 'a'),
    (1, 1, '=c'),
    (4, 2, 'x'),
    (5, 2, 'y');
