-- Labels may stay where they are: Parquet files that are read in place, or whatever a Spark session reads. What the
-- analysis needs of them is tallied once and kept here; ``labels`` holds no row of such a dataset.

CREATE TABLE label_sources (
    dataset_id INTEGER PRIMARY KEY,
    engine VARCHAR NOT NULL,         -- duckdb: read in place; spark: tallied by a session
    location VARCHAR NOT NULL,
    runs BOOLEAN NOT NULL,           -- whether rows name repeated draws
    repeats BOOLEAN NOT NULL,        -- whether a key (system, rubric, judge, run) comes in several rows
    "rows" BIGINT NOT NULL,
    fingerprint VARCHAR NOT NULL     -- of the files' metadata, or of the tallies
);

CREATE TABLE source_files (
    dataset_id INTEGER NOT NULL,
    path VARCHAR NOT NULL,           -- under the location; '' where that is the file
    bytes BIGINT NOT NULL,
    modified BIGINT NOT NULL,        -- nanoseconds since 1970
    "rows" BIGINT NOT NULL,
    footer VARCHAR NOT NULL          -- MD5 of the footer: schema, row groups, statistics
);

CREATE TABLE cell_tallies (          -- how many judges gave a cell each label
    dataset_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    rubric_id INTEGER NOT NULL,
    judge_id INTEGER,                -- where draws are repeated: n draws of this judge; NULL: n judges
    label INTEGER,                   -- NULL: blank
    n BIGINT NOT NULL
);

CREATE TABLE judge_tallies (         -- one row per (dataset, system, judge); repeated draws count once
    dataset_id INTEGER NOT NULL,
    system_id INTEGER NOT NULL,
    judge_id INTEGER NOT NULL,
    labels BIGINT NOT NULL,
    blank BIGINT NOT NULL,
    lowest INTEGER,
    highest INTEGER
);

CREATE TABLE rubric_tallies (        -- one row per (dataset, rubric)
    dataset_id INTEGER NOT NULL,
    rubric_id INTEGER NOT NULL,
    lowest INTEGER,
    highest INTEGER,
    n BIGINT NOT NULL                -- known labels
);

-- What queries ask of labels without reading one; a reader of a dataset whose labels lie elsewhere puts temporary views
-- of the tallies in their place.
CREATE VIEW label_extremes AS
SELECT dataset_id, rubric_id, min(label) AS lo, max(label) AS hi, count(label) AS n FROM labels
GROUP BY dataset_id, rubric_id;
CREATE VIEW labelled_systems AS SELECT DISTINCT dataset_id, system_id FROM labels;
CREATE VIEW labelled_judges AS SELECT DISTINCT dataset_id, judge_id FROM labels;
