"""Tools for building and checking; none is part of the package."""
