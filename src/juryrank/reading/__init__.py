"""Votes from files and data frames: every complaint about input is raised here."""

from juryrank.reading.reader import read_votes, votes_from

__all__ = ["read_votes", "votes_from"]
