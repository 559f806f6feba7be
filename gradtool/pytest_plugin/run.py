"""State that all modules of one pytest run share: the options, and the session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradtool.config.environment import of_environment
from gradtool.config.options import (
    CheckOptions,
    ConfigOptions,
    ExecutionOptions,
    NumericOptions,
)
from gradtool.errors import UsageError
from gradtool.policy.baseline import Baseline, read_baseline
from gradtool.pytest_plugin.items import ModuleFile
from gradtool.run.session import Session

RUN = pytest.StashKey["Run"]()
"""Key of the run in pytest's configuration."""


class Run:
    """A gradtool run as a part of pytest's."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the settings.

        Raises:
            pytest.UsageError: One of them is wrong.
        """
        named = config.getini("gradtool_config")
        path = str(config.rootpath / named) if named else None
        try:
            options = CheckOptions(
                config=ConfigOptions(file=path, variables=of_environment(os.environ)),
                numeric=NumericOptions(engine=config.getini("gradtool_engine") or None),
                execution=ExecutionOptions(isolation=hasattr(os, "fork"), jobs=1),
                strict=config.getini("gradtool_strict"),
            )
            self.session = Session(options, _baseline(config))
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None

    def module_file(
        self, path: Path, parent: pytest.Collector, is_walked: bool
    ) -> ModuleFile | None:
        """The collector for one module; None for one that the configuration excludes."""
        try:
            if is_walked and self.session.excludes(path):
                return None
        except UsageError as error:
            raise parent.CollectError(str(error)) from None
        found: ModuleFile = ModuleFile.from_parent(parent, path=path)
        found.is_walked = is_walked
        found.gate_session = self.session
        return found

    def close(self) -> None:
        """End the processes that did the work."""
        self.session.close()


def _baseline(config: pytest.Config) -> Baseline | None:
    named, given = config.getini("gradtool_baseline"), config.getoption("gradtool_baseline")
    if given:
        return read_baseline(str(config.invocation_params.dir / given))
    return read_baseline(str(config.rootpath / named)) if named else None
