"""Wide tables: several columns of labels in a row, one a judge, a system, a rubric or a run."""
