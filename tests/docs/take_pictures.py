"""Takes the pictures in docs/pictures: ``python tests/docs/take_pictures.py``.

Each shows a command run on a module: in a terminal of its own width and colours, or as the HTML
page that it writes, for which Chromium is needed.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.docs.blocks import blocks

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "pictures"

CUBE = next(b.text for b in blocks(ROOT / "docs" / "quick-start.md") if "my_ops.py" in b.files)
"""The wrong Function of the quick start."""

THEME = TerminalTheme(
    background=(22, 27, 34),
    foreground=(201, 209, 217),
    normal=[
        (72, 79, 88),
        (255, 123, 114),
        (126, 231, 135),
        (227, 179, 65),
        (121, 192, 255),
        (210, 168, 255),
        (86, 212, 221),
        (177, 186, 196),
    ],
)
# As Rich has it, without the font that it loads from elsewhere.
FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
}}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


@dataclass(frozen=True)
class Picture:
    """One command, run where `my_ops.py` is a module."""

    name: str
    command: str
    module: str

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.svg"


@dataclass(frozen=True)
class Screenshot:
    """The HTML page that a command writes, in a window."""

    name: str
    command: str
    height: int

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.png"


PICTURES = (Picture("finding", "gradtool check my_ops.py", CUBE),)
SCREENSHOTS = (
    Screenshot("report", "gradtool check my_ops.py --report html=page.html", 900),
    Screenshot("profile", "gradtool profile my_ops.py --report html=page.html", 460),
)
WIDTH = 118
WINDOW = 1140


def main() -> None:
    """Take them all."""
    FOLDER.mkdir(exist_ok=True)
    for picture in PICTURES:
        picture.path.write_text(drawn(picture, printed(picture)), encoding="utf-8")
    for screenshot in SCREENSHOTS:
        take(screenshot)


def printed(picture: Picture) -> str:
    """The output of the command, in colour."""
    with TemporaryDirectory() as folder:
        return _run(f"{picture.command} --color always", picture.module, Path(folder))


def take(screenshot: Screenshot) -> None:
    """Write the picture of a page in a browser."""
    with TemporaryDirectory() as folder:
        _run(screenshot.command, CUBE, Path(folder))
        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
        size = f"--window-size={WINDOW},{screenshot.height}"
        page = Path(folder, "page.html").as_uri()
        command = ["chromium", *options, size, f"--screenshot={screenshot.path}", page]
        subprocess.run(command, check=True, capture_output=True)


def _run(command: str, module: str, folder: Path) -> str:
    """Run a command where `my_ops.py` is `module`, and return the output."""
    (folder / "my_ops.py").write_text(module, encoding="utf-8")
    hidden = {"NO_COLOR", "FORCE_COLOR", "PYTEST_CURRENT_TEST", "GITHUB_ACTIONS"}
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    ended = subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=folder,
        env=environment | {"COLUMNS": str(WIDTH), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode in (0, 1), ended.stderr
    return ended.stdout


def drawn(picture: Picture, output: str) -> str:
    """The terminal as an SVG."""
    console = Console(
        record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False
    )
    console.print(Text.assemble(("$ ", "bold"), picture.command))
    console.print(Text.from_ansi(output.rstrip()), highlight=False)
    svg = console.export_svg(
        title="", theme=THEME, code_format=FORMAT, unique_id=f"terminal-{picture.name}"
    )
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def shown(svg: str) -> str:
    """The text of a picture."""
    rows: dict[float, str] = {}
    for y, text in re.findall(r'<text [^>]*\by="([\d.]+)"[^>]*>(.*?)</text>', svg):
        rows[float(y)] = rows.get(float(y), "") + unescape(text).replace("\xa0", " ")
    return "\n".join(rows[y].rstrip() for y in sorted(rows))


if __name__ == "__main__":
    main()
