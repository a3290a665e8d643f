-- The scales of the rubrics, as the last ingest resolved them: rows that leave what they rest on as it was need not resolve
-- them again. They are no content; where ``state`` is not that of the dataset, they do not count.

CREATE TABLE rubric_scales (
    dataset_id INTEGER NOT NULL,
    state VARCHAR NOT NULL,          -- of the labels' extremes and the descriptions, which the scales rest on
    rubric_id INTEGER NOT NULL,
    query VARCHAR NOT NULL,
    criterion VARCHAR NOT NULL,
    criterion_id INTEGER NOT NULL,   -- the lowest rubric_id of its rubrics
    scale_min INTEGER NOT NULL,
    scale_max INTEGER NOT NULL,
    levels INTEGER NOT NULL,
    polarity INTEGER NOT NULL,
    pass_mark INTEGER NOT NULL,      -- the lowest label that counts as met
    mark_given BOOLEAN NOT NULL,
    given BOOLEAN NOT NULL           -- whether somebody gave the scale
);
