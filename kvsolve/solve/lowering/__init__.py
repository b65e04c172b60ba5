"""A context's constraints as a finite problem: gates over the states of flags, and clauses."""
