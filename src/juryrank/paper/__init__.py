"""The paper's tables again: ours beside the published numbers, and our default estimator too."""

TABLES = ("gumbel-benign", "normal-benign", "gumbel-adversarial", "normal-adversarial")
REAL = ("reading-level", "country-population")
STUDIES = (*TABLES, *REAL, "accuracy-curve", "convergence", "efficiency", "theory")
