"""The options by which the same is asked once more: one finding, or everything with other seeds."""

from __future__ import annotations

from typing import Annotated

import typer

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH",
        show_default=False,
        help="Files, folders, file.py::Function or file.py::Function[case]; with --replay JSON "
        "reports, or nothing for the last run.",
    ),
]
Replay = Annotated[
    str | None,
    typer.Option(
        "--replay",
        metavar="FINDING",
        help="Ask again for one finding of the last run or of a report, by its node id or its "
        "fingerprint, as it was asked for then.",
    ),
]
Flake = Annotated[
    int | None,
    typer.Option(
        "--flake",
        metavar="N",
        min=2,
        max=1000,
        help="Make each check with N seeds, from --seed on, and tell how many fail.",
    ),
]
