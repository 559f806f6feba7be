"""Every command and every block of code in README.md and docs/ does what the page says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.docs.blocks import MARKS, Block, blocks
from tests.docs.settled import matches, settled
from tests.docs.yaml_files import commands_of, refuse_mistakes_of

ROOT = Path(__file__).resolve().parents[2]
RULE_PAGES = sorted((ROOT / "docs" / "rules").glob("*.md"))
"""Pages whose examples `tests/verify/test_rule_pages.py` checks."""

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = [page for page in PAGES if blocks(page)]
_WITH_PYTORCH = [page for page in RUN if any("needs" in block.marks for block in blocks(page))]
LANGUAGES = ("sh", "console", "python", "yaml", "toml", "text")


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_every_block_says_what_it_is(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block.place}: language {block.language!r}"
        unknown = set(block.marks).difference(MARKS)
        assert not unknown, f"{block.place}: unknown marks {unknown}"
        if block.language == "text":
            shown = {"output of", "not run"} & set(block.marks)
            assert shown, f"{block.place}: text of no command"
    assert page.read_text(encoding="utf-8").count("```") == 2 * len(blocks(page))


_LONG = ("adopting.md", "ci.md", "deriving.md", "profile.md", "writing-functions.md")
"""Pages whose commands take long."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=pytest.mark.slow) if p.name in _LONG else p for p in RUN],
    ids=lambda page: page.name,
)
def test_every_block_does_what_the_page_says(page: Path, tmp_path: Path) -> None:
    here = Place(tmp_path)
    for block in blocks(page):
        here.write_files_of(block)
        if not {"not run", "command", "needs"} & set(block.marks):
            here.do(block)


@pytest.mark.torch
@pytest.mark.parametrize("page", _WITH_PYTORCH, ids=lambda page: page.name)
def test_every_block_that_needs_pytorch_does_what_the_page_says(page: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    here = Place(tmp_path)
    for block in blocks(page):
        here.write_files_of(block)
        if "needs" in block.marks:
            here.do(block)


def test_examples_of_the_pages_that_are_left_out_are_those_another_test_checks() -> None:
    from gradtool.verify.rules import RULES

    examples = {example for rule in RULES.values() for example in (rule.wrong, rule.right)}
    found = [block for page in RULE_PAGES for block in blocks(page) if block.language == "python"]
    assert len(found) > len(RULES)
    assert {block.text.rstrip() for block in found} <= {str(e).rstrip() for e in examples}


_REPOSITORY = """
git init -q
git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m "Begin"
git update-ref refs/remotes/origin/main HEAD
"""


class Place:
    """A repository with the samples, in which the blocks of one page are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "page"
        shutil.copytree(ROOT / "samples", self.folder / "samples")
        shutil.copytree(ROOT / "configs", self.folder / "configs")
        programs = folder / "bin"
        programs.mkdir()
        for name, module in (("gradtool", "gradtool"), ("pytest", "pytest"), ("python", "")):
            _write_program(programs / name, module)
        self._environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "GITHUB_"))},
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(self.folder / "samples")]),
            "COLUMNS": "100",
            "NO_COLOR": "1",
        }
        if "gradtool" not in entry_points(group="pytest11").names:
            self._environment["PYTEST_PLUGINS"] = "gradtool.pytest_plugin"
        self._shell(_REPOSITORY)

    def write_files_of(self, block: Block) -> None:
        """Write the files that a block is the content of, and those of the page that it names."""
        given = block.marks.get("given")
        for other in blocks(ROOT / "docs" / given) if given else ():
            self.write_files_of(other)
        for name in block.files:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(block.text, encoding="utf-8")

    def do(self, block: Block) -> None:
        """Run a block, or check it with what reads it, according to its language."""
        if "output of" in block.marks:
            printed = self.output_of(block)
            told = f"{block.place}; python tests/docs/write_outputs.py renews numbers:\n{printed}"
            assert matches(settled(block.text), settled(printed)), told
        elif block.language in ("sh", "console"):
            self._expect(block, block.commands)
        elif block.language == "python" and not block.files:
            self._expect(block, f"python - <<'END'\n{block.text}END\n")
        elif block.language == "yaml":
            refuse_mistakes_of(block, self.folder)
            for command in commands_of(block):
                self._expect(block, command)

    def output_of(self, block: Block) -> str:
        """What the command prints whose output the block shows."""
        return self._expect(block, block.marks["output of"])

    def _expect(self, block: Block, commands: str) -> str:
        """What the commands print; they must end as the block says."""
        ended = self._shell(commands)
        shown = f"{block.place}:\n{commands}\n{ended.stdout}{ended.stderr}"
        assert ended.returncode == int(block.marks.get("exits", 0)), shown
        return ended.stdout

    def _shell(self, commands: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", commands],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )


def _write_program(path: Path, module: str) -> None:
    """The program that an installed package would bring."""
    run = f"-m {module} " if module else ""
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {run}"$@"\n', encoding="utf-8")
    path.chmod(0o755)
