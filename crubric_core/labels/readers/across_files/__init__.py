"""Several files together: which system, judge or query each is of, where its rows do not say."""
