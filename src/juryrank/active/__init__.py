"""Active choice of questions: which pair next, and for whom; how many more; what is settled."""
