"""Several files together: find the system, judge or query of each file if its rows do not name it."""
