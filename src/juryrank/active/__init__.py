"""Which question to ask next, of which judge, and a loop that asks it."""
