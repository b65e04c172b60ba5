"""The knowledge of each release: loading its pack, and compiling and running its program."""
