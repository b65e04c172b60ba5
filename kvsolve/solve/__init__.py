"""Checking, repairing, explaining and enumerating configurations over a pack."""
