"""Runs of the command on a folder, as a CI job makes them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from gradtool.results.report import Report
from tests.workers.processes import Marked

ROOT = Path(__file__).parents[2]


def gradtool(
    folder: Path, *arguments: str, timeout: float = 240, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in `folder`; no process may outlive it."""
    with Marked() as marked:
        done = subprocess.run(
            [sys.executable, "-m", "gradtool", *arguments],
            cwd=folder,
            env=marked.environment(PYTHONPATH=str(ROOT), **environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
        )
        assert marked.left() == [], "a process was left behind"
    assert "Traceback" not in done.stderr, done.stderr
    return done


def check(folder: Path, *arguments: str, **environment: str) -> tuple[int, Report]:
    """Check what `arguments` name, and read the report."""
    place = folder / "report.json"
    place.unlink(missing_ok=True)
    done = gradtool(folder, "check", *arguments, "--report", f"json={place}", **environment)
    assert place.exists(), done.stderr
    return done.returncode, msgspec.json.decode(place.read_bytes(), type=Report)


def write(folder: Path, **files: str) -> None:
    """Write modules by their names."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def found_in(report: Report, path: str) -> set[str]:
    """Codes of the errors that are found in a file."""
    return {
        finding.rule
        for finding in report.findings()
        if finding.node_id.startswith(f"{path}::") and finding.severity.value == "error"
    }


def passes(report: Report, path: str) -> bool:
    """Return True if all of a file passed, and something of it was compared."""
    modules = [module for module in report.modules if module.path == path]
    cases = [case for module in modules for f in module.functions for case in f.cases]
    return (
        bool(cases)
        and all(module.verdict.value == "pass" for module in modules)
        and all(case.compared for case in cases)
    )


needs_fork = not hasattr(os, "fork")


def timeless(report: Report) -> str:
    """The report as text, without times, and without the command that made it."""
    replace = msgspec.structs.replace
    modules = tuple(
        replace(
            module,
            functions=tuple(
                replace(f, cases=tuple(replace(case, seconds=0.0) for case in f.cases))
                for f in module.functions
            ),
        )
        for module in report.modules
    )
    return msgspec.json.encode(replace(report, modules=modules, seconds=0.0, command="")).decode()
