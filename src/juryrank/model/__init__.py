"""The model: what decides a vote, and the objective whose minimum is the best fit."""
