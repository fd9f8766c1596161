"""The paper's tables again: ours beside the published numbers, and our default estimator too."""
