"""The installed package: its version and the folder of its code."""

import os

__version__ = "0.1.0"

FOLDER = os.path.dirname(__file__)  # noqa: PTH120 - every command waits for `pathlib` to load

OWN_CODE = f"{FOLDER}{os.sep}"
"""Start of the file name of each of gradtool's modules, as tracebacks show it."""

REPOSITORY = "https://github.com/OWNER/gradtool"
"""Address of the repository; OWNER stands for its owner until it is published."""

INSTALL = f"pip install git+{REPOSITORY}"
"""Command that installs gradtool anywhere; pip has no other source until it is published."""

DOCS = f"{REPOSITORY}/blob/main/docs"
"""Address of the docs."""


def rule_address(code: str) -> str:
    """Address of the page of a rule."""
    return f"{DOCS}/rules/{code.lower()}.md"
