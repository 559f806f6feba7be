"""Command-line options, each with its help."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from gradtool.adapters.engines import ENGINES
from gradtool.cli import completion
from gradtool.config.resources import DTYPES, EXPLORE

what_option = partial(typer.Option, rich_help_panel="What to check")
how_option = partial(typer.Option, rich_help_panel="How to check")
reports_option = partial(typer.Option, rich_help_panel="Reports")
adoption_option = partial(typer.Option, rich_help_panel="Adoption")
execution_option = partial(typer.Option, rich_help_panel="Execution")

FORMATS = ("text", "concise", "github")
COLORS = ("auto", "always", "never")

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        show_default=False,
        autocompletion=completion.nodes,
        help="Files, folders, file.py::Function or file.py::Function[case].",
    ),
]
Config = Annotated[
    list[str] | None,
    how_option(
        "--config",
        metavar="FILE|KEY=VALUE",
        help="Configuration file to use, or a single setting such as check.timeout=120. "
        "Repeatable.",
    ),
]
Isolated = Annotated[bool, how_option("--isolated", help="Ignore all configuration files.")]
Packages = Annotated[
    list[str] | None,
    what_option(
        "--package",
        "-m",
        metavar="NAME",
        help="Check the modules of an installed package that define Functions.",
    ),
]
Keyword = Annotated[
    str | None,
    what_option(
        "-k",
        metavar="EXPRESSION",
        help="Use only cases whose node ids match an expression such as 'exp and not sort'.",
    ),
]
Select = Annotated[
    list[str] | None,
    how_option(
        "--select",
        metavar="RULES",
        autocompletion=completion.rules,
        help="Check only these rules or families: GT101,GT2 or wrong-gradient.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    how_option(
        "--ignore",
        metavar="RULES",
        autocompletion=completion.rules,
        help="Skip these rules or families.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    what_option("--exclude", metavar="PATTERNS", help="Skip these paths when searching folders."),
]
Strict = Annotated[
    bool | None, how_option("--strict/--no-strict", help="Treat warnings as failures.")
]
Seed = Annotated[
    int | None,
    how_option("--seed", metavar="N", min=0, max=2**64 - 1, help="Seed for random arguments."),
]
Device = Annotated[
    str | None, how_option("--device", metavar="DEVICE", help="Device to run on: cpu or cuda.")
]
Engine = Annotated[
    str | None,
    how_option(
        "--engine",
        metavar="|".join(ENGINES),
        autocompletion=completion.of(ENGINES),
        help="Engine behind `import torch`: gradtool's own (the default), the installed PyTorch, "
        "or both in turn.",
    ),
]
Dtype = Annotated[
    str | None,
    how_option(
        "--dtype",
        metavar="|".join(DTYPES),
        autocompletion=completion.of(DTYPES),
        help="Dtype of all floating-point arguments.",
    ),
]
Atol = Annotated[float | None, how_option("--atol", metavar="X", min=0, help="Absolute tolerance.")]
Rtol = Annotated[float | None, how_option("--rtol", metavar="X", min=0, help="Relative tolerance.")]
Witness = Annotated[
    bool | None,
    how_option(
        "--witness/--no-witness",
        help="Also differentiate the recorded forward step by step; on by default.",
    ),
]
Explore = Annotated[
    str | None,
    how_option(
        "--explore",
        metavar="|".join(EXPLORE),
        autocompletion=completion.of(EXPLORE),
        help="How hard to search for arguments that a Function gets wrong; quick by default.",
    ),
]
Timeout = Annotated[
    float | None,
    execution_option("--timeout", metavar="SECONDS", help="Time limit for each Function."),
]
MemoryLimit = Annotated[
    str | None,
    execution_option(
        "--memory-limit",
        metavar="SIZE",
        help="Memory limit for each Function, such as 512MiB, or none; 4GiB by default.",
    ),
]
Jobs = Annotated[
    str | None,
    execution_option(
        "-j",
        "--jobs",
        metavar="N|auto",
        help="Number of worker processes; auto (the default) uses one per CPU. A GPU run "
        "always uses one.",
    ),
]
Shard = Annotated[
    str | None,
    execution_option(
        "--shard",
        metavar="N/COUNT",
        help="Check part N of COUNT; combine the JSON reports with gradtool merge.",
    ),
]
NoIsolation = Annotated[
    bool,
    execution_option(
        "--no-isolation",
        help="Run in this process, where a crash or a hang takes down the entire run.",
    ),
]
Pdb = Annotated[
    bool,
    execution_option(
        "--pdb",
        help="Start the debugger when checked code raises; turns off isolation and the timeout.",
    ),
]
Executor = Annotated[
    str,
    execution_option(
        "--executor", metavar="local|dask", help="Run on this machine or on a Dask cluster."
    ),
]
Scheduler = Annotated[
    str | None,
    execution_option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of the Dask scheduler, such as tcp://host:8786.",
    ),
]
Format = Annotated[
    str | None,
    reports_option(
        "--format",
        metavar="|".join(FORMATS),
        autocompletion=completion.of(FORMATS),
        help="Output format; the default is text, with annotations on GitHub Actions.",
    ),
]
Reports = Annotated[
    list[str] | None,
    reports_option(
        "--report",
        metavar="FORMAT=PATH",
        autocompletion=completion.reports,
        help="Also write a report, such as json=out.json; formats: json, json-lines, junit, "
        "sarif, gitlab, github, html, markdown, text, concise. Repeatable; - is stdout.",
    ),
]
CollectOnly = Annotated[
    bool, what_option("--collect-only", help="List the cases without checking them.")
]
quiet_option = partial(reports_option, "-q", "--quiet", count=True, show_default=False)
Quiet = Annotated[int, quiet_option(help="Print only findings, notices and the summary.")]
Verbose = Annotated[
    int,
    reports_option(
        "-v",
        "--verbose",
        count=True,
        show_default=False,
        help="Show arguments, reasons and tracebacks; -vv also shows every check.",
    ),
]
Durations = Annotated[
    int | None,
    reports_option(
        "--durations",
        metavar="N",
        min=0,
        help="List the N slowest rules and Functions (10 if N is omitted); 0 lists all.",
    ),
]
Color = Annotated[
    str,
    reports_option(
        "--color",
        metavar="|".join(COLORS),
        autocompletion=completion.of(COLORS),
        help="When to use colour.",
    ),
]
Baseline = Annotated[
    str | None,
    adoption_option(
        "--baseline",
        metavar="FILE",
        help="File of known findings, which do not fail the run; outside CI, fixed ones are "
        "removed from it.",
    ),
]
WriteBaseline = Annotated[
    bool,
    adoption_option(
        "--write-baseline",
        help="Add all current findings to the baseline (gradtool-baseline.json by default).",
    ),
]
BaselineCommit = Annotated[
    str | None,
    adoption_option(
        "--baseline-commit",
        metavar="REF",
        help="Treat findings that already exist at the merge base with REF as known.",
    ),
]
NoIgnores = Annotated[
    bool,
    how_option(
        "--no-ignores",
        help="Disregard `ignore` and `surrogate` in the configuration, and "
        "'# gradtool: ignore[GT505] reason' comments.",
    ),
]
ChangedSince = Annotated[
    str | None,
    what_option(
        "--changed-since",
        metavar="REF",
        help="Check only modules affected by changes since a git commit, including changes to "
        "their local imports or configuration.",
    ),
]
Watch = Annotated[
    bool,
    execution_option(
        "--watch",
        help="After the run, wait for changes to files and recheck what they affect.",
    ),
]
LastFailed = Annotated[
    bool,
    what_option("--lf", "--last-failed", help="Check only Functions that failed in the last run."),
]
FailedFirst = Annotated[
    bool,
    what_option(
        "--ff",
        "--failed-first",
        help="Check all Functions, starting with those that failed in the last run.",
    ),
]
NoCache = Annotated[
    bool,
    execution_option("--no-cache", help="Do not record failures in .gradtool_cache."),
]
AllowEmpty = Annotated[
    bool,
    adoption_option(
        "--allow-empty", help="Succeed if no Function is found, as a pre-commit hook should."
    ),
]
ExitZero = Annotated[
    bool,
    adoption_option(
        "--exit-zero",
        help="Exit with 0 instead of 1: report findings without failing.",
    ),
]
RequireFunctions = Annotated[
    int | None,
    adoption_option(
        "--require-functions",
        metavar="N",
        min=1,
        help="Fail if fewer than N Functions were checked.",
    ),
]
RequireDoubleBackward = Annotated[
    bool,
    adoption_option(
        "--require-double-backward",
        help="Fail if a Function's double backward does not pass, unless GT201 is ignored with a "
        "reason.",
    ),
]
Replay = Annotated[
    str | None,
    what_option(
        "--replay",
        metavar="FINDING",
        help="Reproduce one finding from the last run, or from a JSON report, by node id or "
        "fingerprint.",
    ),
]
Flake = Annotated[
    int | None,
    how_option(
        "--flake",
        metavar="N",
        min=2,
        max=1000,
        help="Run each check with N seeds, starting at --seed, and count the failures.",
    ),
]
PathsOrReports = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH...",
        show_default=False,
        autocompletion=completion.nodes,
        help="Files, folders, file.py::Function or file.py::Function[case]; with --replay, JSON "
        "reports.",
    ),
]
