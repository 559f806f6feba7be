"""The options that commands declare, each with its help."""

from __future__ import annotations

from typing import Annotated

import typer

from gradtool.adapters.engines import ENGINES

FORMATS = ("text", "concise", "github")
COLORS = ("auto", "always", "never")
DTYPES = ("float32", "float64")
EXECUTORS = ("local", "dask")

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        show_default=False,
        help="Files, folders, file.py::Function or file.py::Function[case].",
    ),
]
Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="FILE|KEY=VALUE",
        help="Configuration in place of the one found, or one value of it, "
        "such as check.timeout=120. Repeatable.",
    ),
]
Isolated = Annotated[
    bool, typer.Option("--isolated", help="Read no configuration file: as if there were none.")
]
Keyword = Annotated[
    str | None,
    typer.Option(
        "-k", metavar="EXPRESSION", help="Only cases whose node ids match: 'exp and not sort'."
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="RULES", help="Only these rules or families: GT101,GT2."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="RULES", help="Leave out these rules or families."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude", metavar="PATTERNS", help="Paths to leave out when a folder is walked."
    ),
]
Strict = Annotated[
    bool | None, typer.Option("--strict/--no-strict", help="Let warnings fail the run too.")
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, max=2**64 - 1, help="Seed of the random arguments."),
]
Device = Annotated[
    str | None, typer.Option("--device", metavar="DEVICE", help="Where to run: cpu or cuda.")
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="|".join(ENGINES),
        help="What `import torch` gives: gradtool's engine "
        "(the default), the PyTorch that is installed, or first one, then the other.",
    ),
]
Dtype = Annotated[
    str | None,
    typer.Option("--dtype", metavar="|".join(DTYPES), help="Dtype of all floating arguments."),
]
Atol = Annotated[
    float | None, typer.Option("--atol", metavar="X", min=0, help="Absolute tolerance.")
]
Rtol = Annotated[
    float | None, typer.Option("--rtol", metavar="X", min=0, help="Relative tolerance.")
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", min=0, help="Time for one Function."),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        help="Memory for one Function: 512MiB, 4GiB (the default) or none.",
    ),
]
Jobs = Annotated[
    str | None,
    typer.Option(
        "-j",
        "--jobs",
        metavar="N|auto",
        help="Processes that check at a time; auto, the default: one for each CPU. "
        "On a GPU it is always one.",
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="N/COUNT",
        help="Check one of several parts of the run; gradtool merge unites their JSON reports.",
    ),
]
NoIsolation = Annotated[
    bool,
    typer.Option(
        "--no-isolation",
        help="Check in this process, where a crash or a hang ends the whole run.",
    ),
]
Pdb = Annotated[
    bool,
    typer.Option(
        "--pdb",
        help="Open the debugger where the checked code raises; no isolation and no timeout.",
    ),
]
Executor = Annotated[
    str,
    typer.Option("--executor", metavar="local|dask", help="Check here or on a Dask cluster."),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="The cluster: tcp://host:8786."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="|".join(FORMATS),
        help="How to print the outcome: text by default, and annotations too on GitHub Actions.",
    ),
]
Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="FORMAT=PATH",
        help="Write a report too: json=out.json, or json-lines, junit, sarif, gitlab, github, "
        "html, markdown, text, concise. Repeatable; - is standard output.",
    ),
]
CollectOnly = Annotated[
    bool, typer.Option("--collect-only", help="List the cases without checking them.")
]
Quiet = Annotated[
    int,
    typer.Option(
        "-q",
        "--quiet",
        count=True,
        show_default=False,
        help="Print findings and the summary only.",
    ),
]
Verbose = Annotated[
    int,
    typer.Option(
        "-v",
        "--verbose",
        count=True,
        show_default=False,
        help="Add arguments, reasons, tracebacks; -vv: every check.",
    ),
]
Color = Annotated[str, typer.Option("--color", metavar="|".join(COLORS), help="When to colour.")]
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
Replay = Annotated[
    str | None,
    typer.Option(
        "--replay",
        metavar="FINDING",
        help="Check one finding of the last run or of a report again, by its node id or its "
        "fingerprint, with the same options.",
    ),
]
Flake = Annotated[
    int | None,
    typer.Option(
        "--flake",
        metavar="N",
        min=2,
        max=1000,
        help="Make each check with N seeds, from --seed on, and count those that fail.",
    ),
]
PathsOrReports = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH",
        show_default=False,
        help="Files, folders, file.py::Function or file.py::Function[case]; with --replay JSON "
        "reports, or nothing for the last run.",
    ),
]
