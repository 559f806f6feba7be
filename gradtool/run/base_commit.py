"""``--baseline-commit REF``: find what was wrong before the work began.

The files with new findings are checked with the same options as they were at the commit where the
work left REF, in a process of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec

from gradtool.collect.git import branching_point, checked_out, repository
from gradtool.config.options import CheckOptions, Requirements
from gradtool.errors import UsageError
from gradtool.package import FOLDER
from gradtool.policy.base_commit_findings import FLAG, BaseFindings, new_findings
from gradtool.policy.baseline import Baseline, Entry, entries_of
from gradtool.results.paths import split_path
from gradtool.results.report import Report
from gradtool.workers.messages import WorkerFault

_BOOT = (
    # The path is set before gradtool is imported, so that this gradtool runs and not the commit's.
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from gradtool.run.base_commit import main; main()"
)


class _Request(msgspec.Struct, frozen=True, kw_only=True):
    """The run to make in the tree of the commit."""

    options: CheckOptions
    tree: str
    """The folder that node ids are relative to."""


class _BaseRun(msgspec.Struct, frozen=True, kw_only=True):
    """The findings at the commit, or the reason why there are none."""

    entries: tuple[Entry, ...] = ()
    refusal: str | None = None
    interrupted: bool = False


class BaseRunFault(Exception):  # noqa: N818 - a fault of gradtool's own, and named so
    """Gradtool failed in the tree of the other commit."""


class BaseCommit:
    """A commit that what is found is compared with.

    Raises:
        UsageError: There is no repository here, or it has no such commit.
    """

    def __init__(self, ref: str, options: CheckOptions) -> None:
        self._ref = ref
        self._options = options
        self._here = Path.cwd().resolve()
        self._top = repository(self._here, FLAG)
        self._commit = branching_point(self._top, ref, FLAG)

    def findings(self, report: Report) -> BaseFindings | None:
        """The findings at the commit in the files with new ones; None when it is interrupted.

        Raises:
            UsageError: The tree of the commit cannot be checked.
        """
        try:
            entries = self._entries(self._files(report))
        except KeyboardInterrupt:
            return None
        return BaseFindings(self._ref, self._commit, Baseline(self._top / "baseline", entries))

    def _files(self, report: Report) -> list[Path]:
        """Files of the repository in which something is found, relative to its top."""
        found = dict.fromkeys(split_path(finding.node_id)[0] for finding in new_findings(report))
        places = [_real(Path(path)) for path in found]
        return [p.relative_to(self._top) for p in places if p.is_relative_to(self._top)]

    def _entries(self, files: list[Path]) -> frozenset[Entry]:
        with checked_out(self._top, self._commit, FLAG) as tree:
            there = [tree / file for file in files if (tree / file).is_file()]
            if not there:
                return frozenset()
            folder = tree / self._here.relative_to(self._top)
            # The commit may not have the current folder yet; relative options need it.
            folder.mkdir(parents=True, exist_ok=True)
            options = self._options_in(tree, folder, there)
            answer = _run(_Request(options=options, tree=str(tree)), folder, self._path_in(tree))
        if answer.interrupted:
            raise KeyboardInterrupt
        if answer.refusal is not None:
            raise UsageError(f"{FLAG}: {self._ref} cannot be checked: {answer.refusal}")
        return frozenset(answer.entries)

    def _options_in(self, tree: Path, folder: Path, files: list[Path]) -> CheckOptions:
        """The options of the run, without what narrows it or holds it to something."""
        config, replace = self._options.config, msgspec.structs.replace
        if config.file is not None:
            config = replace(config, file=str(self._mapped(_real(Path(config.file)), tree)))
        execution = self._options.execution
        return replace(
            self._options,
            config=config,
            selection=replace(
                self._options.selection,
                paths=tuple(os.path.relpath(file, folder) for file in files),
                shard=None,
                changed_since=None,
                only_failed=None,
                allow_empty=True,
            ),
            execution=replace(
                execution,
                # `--pdb` implies no isolation, and there is no debugger at the commit.
                isolation=execution.isolation or execution.pdb,
                pdb=False,
                executor="local",
                scheduler=None,
            ),
            requirements=Requirements(),
        )

    def _path_in(self, tree: Path) -> list[str]:
        """The folders to import from: those of the tree, except for gradtool itself."""
        # An editable install may lie in the repository; both runs must use the same gradtool.
        own = Path(FOLDER).resolve().parent
        places = [Path(entry).resolve() for entry in sys.path]
        return [str(p if p == own else self._mapped(p, tree)) for p in places]

    def _mapped(self, path: Path, tree: Path) -> Path:
        """The same place in the tree, where it has it."""
        if not path.is_relative_to(self._top):
            return path
        there = tree / path.relative_to(self._top)
        return there if there.exists() else path


def _real(path: Path) -> Path:
    """The path without links, but for its own name."""
    return path.parent.resolve() / path.name


def _run(request: _Request, folder: Path, path: list[str]) -> _BaseRun:
    """Run `main` in a process of its own."""
    options = [f"-W{option}" for option in sys.warnoptions]
    ran = subprocess.run(
        # With -c alone Python looks in the current folder first, and a json.py there would be
        # imported.
        [sys.executable, *options, "-P", "-c", _BOOT, json.dumps(path)],
        input=msgspec.json.encode(request),
        capture_output=True,
        cwd=folder,
        check=False,
    )
    try:
        return msgspec.json.decode(ran.stdout, type=_BaseRun)
    except msgspec.DecodeError:
        stderr = ran.stderr.decode(errors="replace")
        raise BaseRunFault(
            f"it exited with code {ran.returncode}\n\nIn its process:\n{stderr}"
        ) from None


def main() -> None:
    """Answer one request on standard input, as JSON on standard output.

    What the checked code prints goes to standard error.
    """
    # The answer goes to a copy of standard output, which checked code cannot reach with print.
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        request = msgspec.json.decode(sys.stdin.buffer.read(), type=_Request)
        out.write(msgspec.json.encode(_answered(request)))


def _answered(request: _Request) -> _BaseRun:
    from gradtool.run.runner import check

    try:
        report = check(request.options)
    except UsageError as error:
        return _BaseRun(refusal=str(error))
    if report.faults:
        raise WorkerFault.of(report.faults[0])
    found = entries_of(Baseline(Path(request.tree, "baseline")), report)
    return _BaseRun(entries=tuple(found.values()), interrupted=report.interrupted)
