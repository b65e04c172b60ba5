"""The one family of errors that kvsolve raises on purpose: its own input is bad."""

from __future__ import annotations

__all__ = ["KvsolveError"]


class KvsolveError(Exception):
    """Something kvsolve was given cannot be used; the text is one sentence for the user.

    Command-line verbs print the sentence to stderr and exit with 2.
    """
