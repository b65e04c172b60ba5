"""kvsolve beside other solvers, each on the same specialised pack.

Run with ``make bench``, or ``python -m benchmarks.peers --help``.
"""
