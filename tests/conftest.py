"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# In CI the same examples are drawn every time, so that a change is judged by the change; everywhere
# else new ones are.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")
