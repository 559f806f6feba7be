"""Keeps the source tree easy to walk: small folders, short functions, docstrings that say what."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gradtool"
MODULES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}

QUESTION = re.compile(r"(What|Whether|Where|Those|How|Which|Who|Why|When|That)\b")
"""A docstring states what its subject is or does."""


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def documented() -> Iterator[tuple[str, str]]:
    for path, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    line = getattr(node, "lineno", 1)
                    yield f"{path.relative_to(ROOT)}:{line}", text.splitlines()[0]


def test_no_folder_but_that_of_the_rules_holds_more_than_thirty_files() -> None:
    sizes = Counter(str(path.parent.relative_to(PACKAGE)) for path in MODULES)
    assert {folder for folder, size in sizes.items() if size > 30} == {"verify/rules"}


def test_functions_are_short() -> None:
    lengths = [(node.end_lineno or 0) - node.lineno + 1 for _, node in functions()]
    assert median(lengths) < 10
    assert sum(length > 40 for length in lengths) < len(lengths) / 200


def test_every_module_says_why_it_exists() -> None:
    assert [str(path) for path, tree in MODULES.items() if not ast.get_docstring(tree)] == []


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    assert [f"{place}: {first}" for place, first in documented() if QUESTION.match(first)] == []


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_pages_about_the_layout_name_every_package_and_no_other(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    named = set(re.findall(r"^\| `gradtool/(\w+)` \|", text, re.MULTILINE))
    assert named == packages
