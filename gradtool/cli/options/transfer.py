"""The options of ``gradtool profile-transfer``, as the command line declares and explains them."""

from __future__ import annotations

from typing import Annotated

import typer

Device = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICE", help="cpu, cuda or cuda:N. Without it, CUDA where there is one."
    ),
]
Listing = Annotated[bool, typer.Option("--list", help="List the scenarios without measuring them.")]
Sizes = Annotated[list[str] | None, typer.Option("--size", metavar="SIZES", help="As 64KiB,1MiB.")]
Directions = Annotated[
    list[str] | None,
    typer.Option("--direction", metavar="DIRECTIONS", help="h2d, d2h, d2d, duplex."),
]
Scenarios = Annotated[
    list[str] | None,
    typer.Option("--scenario", metavar="PATTERNS", help="Names as in a shell: 'pinned*'."),
]
Budget = Annotated[
    float | None, typer.Option(metavar="SECONDS", min=0.1, help="Time to measure for.")
]
Config = Annotated[str | None, typer.Option(metavar="FILE", help="YAML that says what to measure.")]
Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="FORMAT=PATH",
        help="Write a report too: json, csv, markdown, html, text. Repeatable.",
    ),
]
Plot = Annotated[
    str | None, typer.Option(metavar="PATH", help="Draw bandwidth by size: .svg or .png.")
]
Compare = Annotated[
    str | None, typer.Option(metavar="JSON", help="Compare with an earlier report.")
]
MaxRegression = Annotated[
    str, typer.Option(metavar="SHARE", help="With --compare: how much slower fails the run.")
]
Requirements = Annotated[
    list[str] | None,
    typer.Option(
        "--require", metavar="THRESHOLD", help="As 'pinned.h2d.gbps >= 0.8*link'. Repeatable."
    ),
]
