-- A workspace as a release of schema version 8 wrote it: two datasets, every kind of table, replaced labels, rejects,
-- a reason, repeated draws; tallies of the labels.

CREATE TABLE anchors(dataset_id INTEGER NOT NULL, rubric_id INTEGER NOT NULL, judge_id INTEGER NOT NULL, "label" INTEGER, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL, reason VARCHAR);
INSERT INTO "anchors" VALUES
    (1, 1, 3, 1, 7, 2, NULL),
    (1, 2, 3, 0, 7, 3, NULL);

CREATE TABLE answers(dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, query_id INTEGER NOT NULL, "text" VARCHAR NOT NULL, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL);
INSERT INTO "answers" VALUES
    (1, 2, 1, 'Nothing is due.', 9, 2),
    (1, 3, 1, 'It is due in May.', 9, 3);

CREATE TABLE cell_tallies(dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, rubric_id INTEGER NOT NULL, judge_id INTEGER, "label" INTEGER, n BIGINT NOT NULL);

CREATE TABLE datasets(dataset_id INTEGER PRIMARY KEY, "name" VARCHAR NOT NULL, created_at TIMESTAMP NOT NULL, fingerprint VARCHAR);
INSERT INTO "datasets" VALUES
    (1, 'fin', TIMESTAMP '2026-01-01 12:00:00', '4941aa40c23994b838d37abfa7a98fe3'),
    (2, 'tiny', TIMESTAMP '2026-01-01 12:00:00', 'aeb5af4d2bb50341eba5d6aa082cdc41');

CREATE TABLE gold(dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, rubric_id INTEGER NOT NULL, judge_id INTEGER NOT NULL, "label" INTEGER, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL, reason VARCHAR);
INSERT INTO "gold" VALUES
    (1, 2, 1, 3, 1, 5, 2, NULL),
    (1, 3, 1, 3, 0, 5, 3, NULL);

CREATE TABLE ingests(ingest_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, kind VARCHAR NOT NULL, "source" VARCHAR NOT NULL, ingested_at TIMESTAMP NOT NULL, accepted BIGINT NOT NULL, rejected BIGINT NOT NULL, blank BIGINT NOT NULL, collapsed BIGINT NOT NULL, replaced BIGINT NOT NULL, changes VARCHAR, policies VARCHAR, fingerprint VARCHAR);
INSERT INTO "ingests" VALUES
    (1, 1, 'rubrics', 'rubrics.csv', TIMESTAMP '2026-01-01 12:00:01', 3, 0, 0, 0, 0, '{"systems": 0, "judges": 0, "queries": 2, "rubrics": 3, "added": 3, "changed": 0, "filled": 0, "same": 0, "what": "rubrics"}', '', 'd6b42b159c56dc8649eebee44de281b9'),
    (2, 1, 'queries', 'queries.csv', TIMESTAMP '2026-01-01 12:00:02', 2, 0, 0, 0, 0, '{"systems": 0, "judges": 0, "queries": 0, "rubrics": 0, "added": 2, "changed": 0, "filled": 0, "same": 0, "what": "queries"}', '', 'bb0feb97e4abddda975b2e460e86cad5'),
    (3, 1, 'labels', 'labels.csv', TIMESTAMP '2026-01-01 12:00:03', 8, 1, 1, 0, 0, '{"systems": 3, "judges": 2, "queries": 0, "rubrics": 0, "added": 8, "changed": 0, "filled": 0, "same": 0, "what": "labels"}', '', '5fb91821eafd44188b7b698c22c06576'),
    (4, 1, 'labels', 'corrections.csv', TIMESTAMP '2026-01-01 12:00:04', 2, 0, 0, 0, 2, '{"systems": 0, "judges": 0, "queries": 0, "rubrics": 0, "added": 0, "changed": 2, "filled": 0, "same": 0, "what": "labels"}', 'on_conflict: last (2 rows)', 'bf7036e13a0050b513d23dc2eff50111'),
    (5, 1, 'gold', 'gold.csv', TIMESTAMP '2026-01-01 12:00:05', 2, 0, 0, 0, 0, '{"systems": 0, "judges": 1, "queries": 0, "rubrics": 0, "added": 2, "changed": 0, "filled": 0, "same": 0, "what": "gold labels"}', '', 'e2baf7f06790747f6965ea1001c5e898'),
    (6, 1, 'reference', 'reference.csv', TIMESTAMP '2026-01-01 12:00:06', 2, 0, 0, 0, 0, '{"systems": 0, "judges": 0, "queries": 0, "rubrics": 0, "added": 2, "changed": 0, "filled": 0, "same": 0, "what": "ranked systems"}', '', '9a31352e836684f973fc406d2f1e86f9'),
    (7, 1, 'anchors', 'anchors.csv', TIMESTAMP '2026-01-01 12:00:07', 2, 0, 0, 0, 0, '{"systems": 0, "judges": 0, "queries": 0, "rubrics": 0, "added": 2, "changed": 0, "filled": 0, "same": 0, "what": "anchors"}', '', '5fec8180fcb4d572763fa90af6d812a4'),
    (8, 2, 'labels', 'tiny.csv', TIMESTAMP '2026-01-01 12:00:08', 2, 0, 0, 0, 0, '{"systems": 2, "judges": 1, "queries": 1, "rubrics": 1, "added": 2, "changed": 0, "filled": 0, "same": 0, "what": "labels"}', '', '1db3e2bf71d91f7a6bbd828b5ebca41f'),
    (9, 1, 'answers', 'answers.csv', TIMESTAMP '2026-01-01 12:00:09', 2, 0, 0, 0, 0, '{"systems": 0, "judges": 0, "queries": 0, "rubrics": 0, "added": 2, "changed": 0, "filled": 0, "same": 0, "what": "answers"}', '', 'e8080cc00f2e9fd8eb3c0a0e3c2b652b'),
    (10, 1, 'systems', 'systems.csv', TIMESTAMP '2026-01-01 12:00:10', 2, 0, 0, 0, 0, '{"systems": 0, "judges": 0, "queries": 0, "rubrics": 0, "added": 4, "changed": 0, "filled": 0, "same": 0, "what": "facts"}', '', '4941aa40c23994b838d37abfa7a98fe3'),
    (11, 2, 'labels', 'runs.csv', TIMESTAMP '2026-01-01 12:00:11', 2, 0, 0, 0, 0, '{"systems": 0, "judges": 1, "queries": 0, "rubrics": 1, "added": 2, "changed": 0, "filled": 0, "same": 0, "what": "labels"}', '', 'aeb5af4d2bb50341eba5d6aa082cdc41');

CREATE TABLE judge_tallies(dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, judge_id INTEGER NOT NULL, labels BIGINT NOT NULL, blank BIGINT NOT NULL, lowest INTEGER, highest INTEGER);

CREATE TABLE judges(judge_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, "name" VARCHAR NOT NULL);
INSERT INTO "judges" VALUES
    (1, 1, 'j'),
    (2, 1, 'k'),
    (3, 1, 'ann'),
    (4, 2, 'j'),
    (5, 2, 'k');

CREATE TABLE label_sources(dataset_id INTEGER PRIMARY KEY, engine VARCHAR NOT NULL, "location" VARCHAR NOT NULL, runs BOOLEAN NOT NULL, repeats BOOLEAN NOT NULL, "rows" BIGINT NOT NULL, fingerprint VARCHAR NOT NULL);

CREATE TABLE label_tallies(dataset_id INTEGER NOT NULL, rubric_id INTEGER NOT NULL, judge_id INTEGER NOT NULL, "rows" BIGINT NOT NULL, n BIGINT NOT NULL, lowest INTEGER, highest INTEGER, levels UBIGINT, hashes HUGEINT NOT NULL, folded BOOLEAN NOT NULL);
INSERT INTO "label_tallies" VALUES
    (1, 1, 1, 2, 2, 0, 0, 1, 14207720380824284668, true),
    (1, 1, 2, 1, 1, 1, 1, 2, 5454481357131823854, true),
    (1, 2, 1, 2, 2, 0, 1, 3, 13252867031802474289, true),
    (1, 3, 1, 1, 1, 5, 5, 32, 16379744710164109194, true),
    (1, 3, 2, 2, 1, 3, 3, 8, 12127686497632187458, true),
    (2, 4, 4, 2, 2, 0, 1, 3, 16533622511778811539, true),
    (2, 5, 5, 2, 2, 0, 1, 3, 19503049081860685077, true);

CREATE TABLE labels(dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, rubric_id INTEGER NOT NULL, judge_id INTEGER NOT NULL, "label" INTEGER, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL, run_id INTEGER DEFAULT(0), reason VARCHAR);
INSERT INTO "labels" VALUES
    (1, 1, 1, 2, 1, 3, 9, 0, NULL),
    (1, 2, 1, 1, 0, 4, 2, 0, NULL),
    (1, 2, 2, 1, 0, 3, 3, 0, NULL),
    (1, 2, 3, 1, 5, 3, 4, 0, NULL),
    (1, 2, 3, 2, NULL, 3, 10, 0, NULL),
    (1, 3, 1, 1, 0, 3, 5, 0, NULL),
    (1, 3, 2, 1, 1, 4, 3, 0, NULL),
    (1, 3, 3, 2, 3, 3, 7, 0, NULL),
    (2, 4, 4, 4, 1, 8, 2, 0, NULL),
    (2, 5, 4, 4, 0, 8, 3, 0, NULL),
    (2, 4, 5, 5, 1, 11, 2, 1, 'It says so.'),
    (2, 4, 5, 5, 0, 11, 3, 2, NULL);

CREATE TABLE moved(kind VARCHAR NOT NULL, dataset_id INTEGER NOT NULL, system_id INTEGER, judge_id INTEGER NOT NULL, old_rubric_id INTEGER NOT NULL, new_rubric_id INTEGER NOT NULL, said_by INTEGER NOT NULL, ingest_id INTEGER NOT NULL, run_id INTEGER DEFAULT(0));

CREATE TABLE queries(query_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, "name" VARCHAR NOT NULL, "text" VARCHAR, "domain" VARCHAR, task_type VARCHAR, p_evidence_reasoning DOUBLE, p_decision_support DOUBLE, p_high_risk_constraint DOUBLE, p_creative_divergent DOUBLE, type_source VARCHAR, omega DOUBLE, ingest_id INTEGER, "row" BIGINT);
INSERT INTO "queries" VALUES
    (1, 1, 'q1', 'What is due?', 'tax', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 2),
    (2, 1, 'q2', 'May I?', 'law', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 3),
    (3, 2, 'q', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

CREATE TABLE query_statements(dataset_id INTEGER NOT NULL, query_id INTEGER NOT NULL, "text" VARCHAR, "domain" VARCHAR, task_type VARCHAR, p_evidence_reasoning DOUBLE, p_decision_support DOUBLE, p_high_risk_constraint DOUBLE, p_creative_divergent DOUBLE, type_source VARCHAR, omega DOUBLE, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL);
INSERT INTO "query_statements" VALUES
    (1, 1, 'What is due?', 'tax', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 2),
    (1, 2, 'May I?', 'law', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 3);

CREATE TABLE read_files(dataset_id INTEGER NOT NULL, ingest_id INTEGER NOT NULL, "name" VARCHAR NOT NULL, digest VARCHAR NOT NULL, asked VARCHAR NOT NULL);

CREATE TABLE reason_tallies(dataset_id INTEGER NOT NULL, rubric_id INTEGER NOT NULL, "rows" BIGINT NOT NULL, hashes HUGEINT NOT NULL, folded BOOLEAN NOT NULL);
INSERT INTO "reason_tallies" VALUES
    (2, 5, 1, 9759967518712331184, true);

CREATE TABLE reference_ranking(reference_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, rank DOUBLE, score DOUBLE, ingest_id INTEGER, "row" BIGINT);
INSERT INTO "reference_ranking" VALUES
    (1, 1, 2, 1.0, NULL, 6, 2),
    (2, 1, 3, 2.0, NULL, 6, 3);

CREATE TABLE reference_statements(dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, rank DOUBLE, score DOUBLE, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL);
INSERT INTO "reference_statements" VALUES
    (1, 2, 1.0, NULL, 6, 2),
    (1, 3, 2.0, NULL, 6, 3);

CREATE TABLE rejects(ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL, "column" VARCHAR, "value" VARCHAR, reason VARCHAR NOT NULL, file VARCHAR);
INSERT INTO "rejects" VALUES
    (3, 8, 'label', '9', '9 lies outside the scale of r3, … to 5', NULL);

CREATE TABLE results(fingerprint VARCHAR NOT NULL, kind VARCHAR NOT NULL, "key" VARCHAR NOT NULL, "content" VARCHAR NOT NULL, stored_at TIMESTAMP NOT NULL);

CREATE TABLE rubric_statements(dataset_id INTEGER NOT NULL, rubric_id INTEGER NOT NULL, "text" VARCHAR, scale_min INTEGER, scale_max INTEGER, weight DOUBLE, dimension VARCHAR, severity VARCHAR, polarity INTEGER, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL, tags VARCHAR, pass_mark INTEGER);
INSERT INTO "rubric_statements" VALUES
    (1, 1, 'Names the source', NULL, 1, 2.0, 'content', 'major', NULL, 1, 2, NULL, NULL),
    (1, 2, 'It''s brief', NULL, 1, 1.0, 'style', 'minor', NULL, 1, 3, NULL, NULL),
    (1, 3, 'Warns, where it must', NULL, 5, -3.0, 'safety', 'critical', NULL, 1, 4, NULL, NULL);

CREATE TABLE rubric_tallies(dataset_id INTEGER NOT NULL, rubric_id INTEGER NOT NULL, lowest INTEGER, highest INTEGER, n BIGINT NOT NULL);

CREATE TABLE rubrics(rubric_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, query_id INTEGER, "name" VARCHAR NOT NULL, "text" VARCHAR, scale_min INTEGER, scale_max INTEGER, weight DOUBLE, dimension VARCHAR, severity VARCHAR, ingest_id INTEGER, "row" BIGINT, polarity INTEGER, tags VARCHAR, pass_mark INTEGER);
INSERT INTO "rubrics" VALUES
    (1, 1, 1, 'r1', 'Names the source', NULL, 1, 2.0, 'content', 'major', 1, 2, NULL, NULL, NULL),
    (2, 1, 1, 'r2', 'It''s brief', NULL, 1, 1.0, 'style', 'minor', 1, 3, NULL, NULL, NULL),
    (3, 1, 2, 'r3', 'Warns, where it must', NULL, 5, -3.0, 'safety', 'critical', 1, 4, NULL, NULL, NULL),
    (4, 2, 3, 'r', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (5, 2, 3, 'x', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

CREATE TABLE runs(run_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, "name" VARCHAR NOT NULL);
INSERT INTO "runs" VALUES
    (2, 2, 'two'),
    (1, 2, 'one');

CREATE TABLE scenarios(dataset_id INTEGER NOT NULL, "name" VARCHAR NOT NULL, settings VARCHAR NOT NULL, page VARCHAR NOT NULL, filters VARCHAR NOT NULL, saved_at TIMESTAMP NOT NULL);

CREATE TABLE scoring_rules(dataset_id INTEGER PRIMARY KEY, rules VARCHAR NOT NULL);
INSERT INTO "scoring_rules" VALUES
    (1, '{"actionability": 5.0, "creativity": 3.0, "moderate": -0.3, "critical": -0.5, "assign": []}');

CREATE TABLE settings("key" VARCHAR PRIMARY KEY, "value" VARCHAR NOT NULL);
INSERT INTO "settings" VALUES
    ('application', 'calibrated-rubric'),
    ('schema_version', '8');

CREATE TABLE source_files(dataset_id INTEGER NOT NULL, path VARCHAR NOT NULL, bytes BIGINT NOT NULL, modified BIGINT NOT NULL, "rows" BIGINT NOT NULL, footer VARCHAR NOT NULL);

CREATE TABLE stretches(dataset_id INTEGER NOT NULL, ingest_id INTEGER NOT NULL, judge_id INTEGER NOT NULL, "first" BIGINT NOT NULL, "last" BIGINT NOT NULL, n BIGINT NOT NULL, "label" INTEGER NOT NULL);

CREATE TABLE superseded(kind VARCHAR NOT NULL, dataset_id INTEGER NOT NULL, system_id INTEGER, rubric_id INTEGER NOT NULL, judge_id INTEGER NOT NULL, "label" INTEGER, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL, run_id INTEGER DEFAULT(0), reason VARCHAR);
INSERT INTO "superseded" VALUES
    ('labels', 1, 2, 1, 1, 1, 3, 2, 0, NULL),
    ('labels', 1, 3, 2, 1, 0, 3, 6, 0, NULL);

CREATE TABLE system_facts(dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, "name" VARCHAR NOT NULL, "value" VARCHAR NOT NULL, ingest_id INTEGER NOT NULL, "row" BIGINT NOT NULL);
INSERT INTO "system_facts" VALUES
    (1, 2, 'cost', '0.5', 10, 2),
    (1, 2, 'organisation', 'A Ltd', 10, 2),
    (1, 3, 'cost', '2', 10, 3),
    (1, 3, 'organisation', 'B Ltd', 10, 3);

CREATE TABLE system_tallies(dataset_id INTEGER NOT NULL, system_id INTEGER NOT NULL, judge_id INTEGER NOT NULL, "label" INTEGER, n BIGINT NOT NULL, folded BOOLEAN NOT NULL);
INSERT INTO "system_tallies" VALUES
    (1, 1, 2, 1, 1, true),
    (1, 2, 1, 0, 2, true),
    (1, 2, 1, 5, 1, true),
    (1, 2, 2, NULL, 1, true),
    (1, 3, 1, 0, 1, true),
    (1, 3, 1, 1, 1, true),
    (1, 3, 2, 3, 1, true),
    (2, 4, 4, 1, 1, true),
    (2, 4, 5, 0, 1, true),
    (2, 4, 5, 1, 1, true),
    (2, 5, 4, 0, 1, true);

CREATE TABLE systems(system_id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL, "name" VARCHAR NOT NULL);
INSERT INTO "systems" VALUES
    (1, 1, '=c'),
    (2, 1, 'a'),
    (3, 1, 'b'),
    (4, 2, 'a'),
    (5, 2, 'b');

CREATE TABLE typer_answers("key" VARCHAR PRIMARY KEY, model VARCHAR NOT NULL, probabilities DOUBLE[4] NOT NULL, prompt_tokens BIGINT NOT NULL, completion_tokens BIGINT NOT NULL, answered_at TIMESTAMP DEFAULT(current_timestamp) NOT NULL);

CREATE VIEW label_extremes AS SELECT dataset_id, rubric_id, min(lowest) AS lo, max(highest) AS hi, CAST(sum(n) AS BIGINT) AS n FROM label_tallies GROUP BY dataset_id, rubric_id;
CREATE VIEW labelled_judges AS SELECT DISTINCT dataset_id, judge_id FROM system_tallies;
CREATE VIEW labelled_systems AS SELECT DISTINCT dataset_id, system_id FROM system_tallies;
