"""Studies of juryrank itself; each is run from the project's root and writes to docs/studies."""
