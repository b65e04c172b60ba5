"""Holds kvsolve to the real validators of the releases it knows."""
