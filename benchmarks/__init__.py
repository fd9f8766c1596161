"""How fast, how large and how right: juryrank beside its peers and beside the machine's limit.

    python -m benchmarks run --grid short
    python -m benchmarks page
    python -m benchmarks regress main~5 main

A small package of adapters with one signature; every run is a process of its own. See
docs/benchmarks.md for what is measured and how.
"""
