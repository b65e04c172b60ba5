"""Constraint engines behind one interface."""
