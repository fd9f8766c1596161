"""Charts of a ranking."""
