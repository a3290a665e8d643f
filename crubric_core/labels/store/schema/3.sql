-- Rubrics may carry tags, from which rules tell their severity or dimension.

ALTER TABLE rubrics ADD COLUMN tags VARCHAR;           -- separated by commas
ALTER TABLE rubric_statements ADD COLUMN tags VARCHAR;
