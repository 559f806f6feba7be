"""The options by which a project takes the gate up: what it may know, skip, and must have."""

from __future__ import annotations

from typing import Annotated

import typer

Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="Known findings, which do not fail the run. Those that are gone leave the file, "
        "except in CI; none is added.",
    ),
]
WriteBaseline = Annotated[
    bool,
    typer.Option(
        "--write-baseline",
        help="Add what is found now to the baseline, by default gradtool-baseline.json.",
    ),
]
BaselineCommit = Annotated[
    str | None,
    typer.Option(
        "--baseline-commit",
        metavar="REF",
        help="Known findings are those that were there where the work left a commit of git, "
        "whose files are checked too.",
    ),
]
NoIgnores = Annotated[
    bool,
    typer.Option(
        "--no-ignores",
        help="Report also what `ignore` in the configuration or a comment "
        "'# gradtool: ignore[GT505] reason' leaves out.",
    ),
]
ChangedSince = Annotated[
    str | None,
    typer.Option(
        "--changed-since",
        metavar="REF",
        help="Only modules that changed since a commit of git, import a local module that did, "
        "or whose configuration did.",
    ),
]
LastFailed = Annotated[
    bool, typer.Option("--lf", "--last-failed", help="Only Functions that failed last time.")
]
FailedFirst = Annotated[
    bool,
    typer.Option("--ff", "--failed-first", help="Begin with the Functions that failed last time."),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Do not remember in .gradtool_cache what failed."),
]
AllowEmpty = Annotated[
    bool,
    typer.Option(
        "--allow-empty", help="Pass when the files hold no Function, as a hook's may not."
    ),
]
ExitZero = Annotated[
    bool,
    typer.Option(
        "--exit-zero",
        help="End with 0 where it would be 1: report what is wrong and hold nothing up.",
    ),
]
RequireFunctions = Annotated[
    int | None,
    typer.Option(
        "--require-functions",
        metavar="N",
        min=1,
        help="Fail when fewer Functions were checked.",
    ),
]
RequireDoubleBackward = Annotated[
    bool,
    typer.Option(
        "--require-double-backward",
        help="Fail when a Function has no double backward that passes and GT201 is not ignored "
        "for a reason.",
    ),
]
