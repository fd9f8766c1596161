"""The paper's tables again: ours beside the published numbers, and our default estimator too."""

TABLES = ("gumbel-benign", "normal-benign", "gumbel-adversarial", "normal-adversarial")
STUDIES = (*TABLES, "accuracy-curve", "convergence", "efficiency", "theory")
