"""Votes as nobody should write them: mutated files, read in-process and through the command line.

``make fuzz`` runs it. Whatever a file holds, reading it gives votes or an `InputError` within a few
seconds and within bounds of memory; anything else is a finding, kept under ``findings/``.
"""
