"""A bank in the forms that other tools read."""
