"""What changes from one release to another."""
