"""The ``kvsolve`` command line."""
