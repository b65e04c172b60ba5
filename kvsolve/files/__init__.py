"""Where launch commands live: reading them from real files, and writing repairs back."""
