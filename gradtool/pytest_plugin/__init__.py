"""The pytest plugin: ``pytest --gradtool my_ops.py`` makes a test for each case of each Function.

pytest loads this file in every project that has gradtool installed, so it imports no other module
of gradtool until ``--gradtool`` is given.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gradtool.pytest_plugin.items import ModuleFile
    from gradtool.pytest_plugin.run import Run


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the flag and the settings."""
    group = parser.getgroup("gradtool", "gradients of custom autograd Functions")
    group.addoption(
        "--gradtool",
        action="store_true",
        help="collect a test for each case of each Function, from modules that are not tests",
    )
    group.addoption(
        "--gradtool-baseline",
        metavar="FILE",
        help="expect the findings in this gradtool baseline: tests without other findings xfail",
    )
    parser.addini("gradtool_baseline", "the same, relative to pytest's root directory")
    parser.addini(
        "gradtool_config", "configuration file to use instead of the nearest gradtool.yaml"
    )
    parser.addini("gradtool_engine", "engine to use: bundled, or torch for the installed PyTorch")
    parser.addini("gradtool_strict", "treat warnings as failures", type="bool", default=None)


def pytest_configure(config: pytest.Config) -> None:
    """Open the run that all modules share, if there is to be one."""
    if config.getoption("--gradtool"):
        from gradtool.pytest_plugin.run import Run

        run = Run(config)
        config.stash[_run_key()] = run
        config.add_cleanup(run.close)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ModuleFile | None:
    """Collect modules that pytest finds in a folder and that hold no tests of its own."""
    run = _run(parent.config)
    if run is None or file_path.suffix != ".py" or parent.session.isinitpath(file_path):
        return None
    return None if _holds_tests(file_path, parent) else run.module_file(file_path, parent, True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Any:
    """Collect modules that are named on the command line and hold no tests."""
    run = _run(parent.config)
    if run is None or _holds_tests(module_path, parent):
        return None
    return run.module_file(module_path, parent, False)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note the selected tests, so that each Function is run only at their cases."""
    if _run(session.config) is not None:
        from gradtool.pytest_plugin.items import CheckItem

        for item in session.items:
            if isinstance(item, CheckItem):
                item.want()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Add remarks, and place a skip at the Function, not at the line of the plugin."""
    report = yield
    if _run(item.config) is not None:
        from gradtool.pytest_plugin.items import CheckItem

        if isinstance(item, CheckItem) and report.when == "call":
            report.sections += item.remarks
            if report.skipped and not hasattr(report, "wasxfail"):
                report.longrepr = (*item.place, report.longrepr[2])
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Under pytest-xdist, give all tests of one Function to one process: one run answers them."""
    if config.getoption("--gradtool") and config.getvalue("dist") == "load":
        from xdist.scheduler import LoadScopeScheduling

        class ByFunction(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
            """Cuts ``my_ops.py::Cube[large]`` after ``Cube``, and other tests nowhere."""

            def _split_scope(self, nodeid: str) -> str:
                is_ours = not _is_test_file(Path(nodeid.partition("::")[0]), config)
                return nodeid.partition("[")[0] if is_ours else nodeid

        return ByFunction(config, log)
    return None


def _run_key() -> pytest.StashKey[Run]:
    from gradtool.pytest_plugin.run import RUN

    return RUN


def _run(config: pytest.Config) -> Run | None:
    return config.stash.get(_run_key(), None) if config.getoption("--gradtool") else None


def _holds_tests(path: Path, parent: pytest.Collector) -> bool:
    """Return True for a file in which pytest itself looks for tests."""
    return path.name == "conftest.py" or _is_test_file(path, parent.config)


def _is_test_file(path: Path, config: pytest.Config) -> bool:
    return any(path.match(pattern) for pattern in config.getini("python_files"))
