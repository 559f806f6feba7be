"""What holds for all tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from gradtool.collect.torch_alias import alias as torch_alias
from gradtool.collect.torch_alias import missing_names as torch_gaps
from gradtool.collect.torch_alias import torch_types

settings.register_profile("shared machines", deadline=None)
settings.load_profile("shared machines")  # How long an example takes says nothing there.


@pytest.fixture
def scripts_run_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put in order what running a script changes of the process, which is meant to end with it."""
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(torch_gaps, "shown_as_torch", False)
    monkeypatch.setattr(torch_types, "show", lambda _module: None)
    monkeypatch.setattr(torch_types, "show_private", lambda: None)
    depth = torch_alias._alias._depth
    yield
    while torch_alias._alias._depth > depth:
        torch_alias._alias.leave()
