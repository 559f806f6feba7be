"""Print a command of README.md, so that what CI runs is what the README says.

The README marks its commands: ``<!-- command: NAME -->`` on the line above a fenced block
of one line. Usage: ``python3 .ci/readme_command.py NAME``.
"""

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def readme_command(name: str, text: str) -> str:
    """The one line in the block that is marked `name`.

    Raises:
        SystemExit: No such block, or one of several lines.
    """
    marked = re.search(rf"^<!-- command: {re.escape(name)} -->\n```sh\n(.+)\n```$", text, re.M)
    if marked is None:
        raise SystemExit(f"README.md marks no block of one line as `command: {name}`")
    return marked[1]


if __name__ == "__main__":
    print(readme_command(sys.argv[1], README.read_text(encoding="utf-8")))
