-- What the checks, the scales and the fingerprint need of labels is tallied with each ingest, so that new rows cost what
-- they are and not what stands. A table of tallies has several rows of one key: their sums and extremes count. The
-- program fills them (crubric_core/labels/ingest/tallies.py) for workspaces of earlier versions too.

ALTER TABLE aside RENAME TO superseded;

CREATE TABLE label_tallies (         -- by rubric and judge
    dataset_id INTEGER NOT NULL,
    rubric_id INTEGER NOT NULL,
    judge_id INTEGER NOT NULL,
    "rows" BIGINT NOT NULL,          -- blank ones included
    n BIGINT NOT NULL,               -- known labels, repeated draws each
    lowest INTEGER,
    highest INTEGER,
    levels UBIGINT,                  -- bit (label modulo 64) of every known label
    hashes HUGEINT NOT NULL,         -- sum of the hashes of (system, judge, label, run)
    folded BOOLEAN NOT NULL          -- whether it was summed up from several ingests
);

CREATE TABLE system_tallies (        -- by system, judge and label
    dataset_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    judge_id INTEGER NOT NULL,
    label INTEGER,                   -- NULL: blank
    n BIGINT NOT NULL,               -- rows, repeated draws each
    folded BOOLEAN NOT NULL
);

CREATE TABLE reason_tallies (        -- by rubric, of the labels that have a reason
    dataset_id INTEGER NOT NULL,
    rubric_id INTEGER NOT NULL,
    "rows" BIGINT NOT NULL,
    hashes HUGEINT NOT NULL,         -- sum of the hashes of (system, query, rubric, judge, run, reason)
    folded BOOLEAN NOT NULL
);

CREATE TABLE stretches (             -- 20 labels or more of one judge that stand together in a file and are all equal
    dataset_id INTEGER NOT NULL,
    ingest_id INTEGER NOT NULL,
    judge_id INTEGER NOT NULL,
    "first" BIGINT NOT NULL,         -- rows of the file
    "last" BIGINT NOT NULL,
    n BIGINT NOT NULL,
    label INTEGER NOT NULL
);

CREATE OR REPLACE VIEW label_extremes AS
SELECT dataset_id, rubric_id, min(lowest) AS lo, max(highest) AS hi, sum(n)::BIGINT AS n FROM label_tallies
GROUP BY dataset_id, rubric_id;
CREATE OR REPLACE VIEW labelled_systems AS SELECT DISTINCT dataset_id, system_id FROM system_tallies;
CREATE OR REPLACE VIEW labelled_judges AS SELECT DISTINCT dataset_id, judge_id FROM system_tallies;

CREATE TABLE read_files (            -- the files of an ingest of several: one that has not changed is not read again
    dataset_id INTEGER NOT NULL,
    ingest_id INTEGER NOT NULL,      -- the first of those that the files became
    name VARCHAR NOT NULL,           -- under the folder, or in the archive
    digest VARCHAR NOT NULL,         -- SHA-256 of the content
    asked VARCHAR NOT NULL           -- hash of how it was read: its part of the plan, and the policies
);
