"""Votes: all votes, coded; whether they are connected; how they are kept and put together."""
