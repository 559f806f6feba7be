"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("shared machines", deadline=None)
settings.load_profile("shared machines")  # How long an example takes says nothing there.
