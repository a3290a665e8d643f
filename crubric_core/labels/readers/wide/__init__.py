"""Wide tables: several label columns in a row, one for each judge, system, rubric or run."""
