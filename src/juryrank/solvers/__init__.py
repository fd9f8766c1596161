"""The solvers: each takes an objective (or the coded votes) and gives a `Solution`."""
