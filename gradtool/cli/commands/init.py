"""``gradtool init``: write a configuration for the Functions found, and a workflow."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradtool.cli.exit_codes import ExitCode
from gradtool.cli.output.streams import reader_may_leave

if TYPE_CHECKING:
    from gradtool.run.scaffold import Scaffold


def init(
    context: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH...",
            show_default=False,
            help="Files and folders; the current folder by default.",
        ),
    ] = None,
    with_workflow: Annotated[
        bool, typer.Option("--workflow", help="Also write .github/workflows/gradtool.yml.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> Callable[[], ExitCode]:
    """Write a gradtool.yaml for the Functions found."""
    return partial(_init, tuple(paths or ["."]), with_workflow, force, context.obj)


def _init(paths: tuple[str, ...], with_workflow: bool, force: bool, command: str) -> ExitCode:
    from gradtool.config.files import FILE_NAME
    from gradtool.errors import UsageError

    top = _top(Path.cwd())
    targets = [Path.cwd() / FILE_NAME]
    if with_workflow:
        targets.append(top / ".github" / "workflows" / "gradtool.yml")
    free = [path for path in targets if force or not os.path.lexists(path)]
    if not free:
        there = " and ".join(_shown(path) for path in targets)
        exist, them = ("exists", "it") if len(targets) == 1 else ("exist", "them")
        raise UsageError(f"{there} already {exist}: use --force to overwrite {them}")
    found = _found(paths, command)
    if not found.functions + found.remarked:
        print(f"no Functions found in {shlex.join(paths)}; nothing was written", file=sys.stderr)
        return ExitCode.NOTHING_CHECKED
    with reader_may_leave(sys.stdout):
        for path in targets:
            text = _text(path, found, paths, top) if path in free else None
            print(_written(path, text, found))
        print(f"next: {shlex.join(['gradtool', 'check', *paths])}")
        if with_workflow:
            accept = shlex.join(["gradtool", "check", *paths, "--write-baseline"])
            print(f"if findings remain: {accept}, and add --baseline to the workflow's command")
    return ExitCode.PASSED


def _found(paths: tuple[str, ...], command: str) -> Scaffold:
    from gradtool.cli.output.display import Display
    from gradtool.config.options import CheckOptions, ExecutionOptions, SelectionOptions
    from gradtool.errors import UsageError
    from gradtool.run import runner
    from gradtool.run.scaffold import configuration

    options = CheckOptions(
        selection=SelectionOptions(paths=paths),
        execution=ExecutionOptions(isolation=hasattr(os, "fork")),
        command=command,
    )
    with Display(form=None, color="never", verbosity=-1).watching():
        modules, cases = runner.collect_with_cases(options)
    outside = next((m.path for m in modules if Path(m.path).is_absolute()), None)
    if outside is not None:
        raise UsageError(
            f"{outside} is outside the current folder: run gradtool init in a folder above it"
        )
    return configuration(modules, cases)


def _text(path: Path, found: Scaffold, paths: Sequence[str], top: Path) -> str:
    from gradtool.policy.baseline import FILE_NAME
    from gradtool.run.scaffold import workflow

    if path.suffix == ".yaml":
        return found.text
    folder = os.path.relpath(Path.cwd(), top).replace(os.sep, "/")
    baseline = FILE_NAME if Path(FILE_NAME).is_file() else None
    return workflow(paths, max(found.checkable, 1), "" if folder == "." else folder, baseline)


def _written(path: Path, text: str | None, found: Scaffold) -> str:
    """Write a file and summarize its contents."""
    from gradtool.cli.output.destinations import replace
    from gradtool.errors import UsageError

    if text is None:
        return f"{_shown(path)} already exists and was not changed; use --force to overwrite it"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, text)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"{_shown(path)} cannot be written: {reason}") from None
    if path.suffix != ".yaml":
        return f"{_shown(path)}: checks every push and pull request"
    return f"{_shown(path)}: {', '.join(_content(found))}"


def _content(found: Scaffold) -> Iterator[str]:
    from gradtool.spelling import plural

    functions, cases = plural(found.functions, "Function"), plural(found.cases, "case")
    yield f"{functions} with {cases} written out"
    if found.remarked:
        yield f"{found.remarked} listed in a comment"


def _shown(path: Path) -> str:
    return os.path.relpath(path).replace(os.sep, "/")


def _top(folder: Path) -> Path:
    """The top of the repository that `folder` is in, or the folder itself."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
