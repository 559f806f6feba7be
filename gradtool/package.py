"""The installed package: its version and the folder of its code."""

import os
from pathlib import Path

__version__ = "0.1.0"

FOLDER = Path(__file__).parent

OWN_CODE = f"{FOLDER}{os.sep}"
"""Start of the file name of each of gradtool's modules, as tracebacks show it."""

DOCS = "https://github.com/OWNER/gradtool/blob/main/docs"
"""Address of the docs; OWNER stands for the owner of the repository until it is published."""
