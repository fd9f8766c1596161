"""Votes from files and data frames: every complaint about input is raised here."""

from juryrank.reading.reader import as_votes, read_votes, votes_by, votes_from

__all__ = ["as_votes", "read_votes", "votes_by", "votes_from"]
