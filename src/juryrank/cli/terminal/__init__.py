"""How results look in a terminal. Labels come from data: they are shown, never interpreted."""
