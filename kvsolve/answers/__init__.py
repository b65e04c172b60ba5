"""From a question to an answer that may be shown: one file per operation, for CLI and API alike."""
