"""The solvers: each takes an objective (or the wins) and gives a `Solution`."""
