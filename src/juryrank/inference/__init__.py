"""What is known after the votes: the posterior of scores, accuracies, tastes and effects."""
