"""What a run ran on is known even of one that was interrupted before it began."""

from __future__ import annotations

from importlib import metadata

import numpy as np
import pytest

from gradtool.config.settings import Settings
from gradtool.run.runner import environment


def test_the_version_of_numpy_is_that_of_the_work() -> None:
    assert environment("1.2.3", Settings()).numpy == "1.2.3"


def test_where_no_work_was_begun_it_is_the_installed_one() -> None:
    assert environment("", Settings()).numpy == np.__version__


def test_a_version_that_nothing_tells_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", version)
    assert environment("", Settings()).numpy == "unknown"
