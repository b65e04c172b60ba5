"""For maintainers: reads a release's source into the files of a pack."""
