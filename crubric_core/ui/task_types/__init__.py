"""The Task types page: queries, rules, classifiers."""
