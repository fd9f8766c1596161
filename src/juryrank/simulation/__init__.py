"""Votes drawn from a model, with the truth they came from."""
