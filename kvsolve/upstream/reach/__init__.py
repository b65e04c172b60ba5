"""What a launch of a release can reach: call graph, raise and assert statements, their stage."""
