"""From votes to an answer: the request, the fit, the `Ranking`, and what is said about it."""
