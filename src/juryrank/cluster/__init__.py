"""Votes on a cluster of machines: the same sums, where shards of the votes are."""
