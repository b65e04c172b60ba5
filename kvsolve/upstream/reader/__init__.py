"""Symbolic reader: turns the source of one release into its resolution program.

The reader walks upstream's argument resolution forward with unknown flags and facts. It runs
nothing: every value is a constant, a term of the entry language or a model of a Python object.
"""
