"""What ``import gradtool`` promises: sorted, complete, and light until it is used."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import gradtool

HEAVY = ("numpy", "rich", "typer", "yaml", "gradtool.engine")


def typed() -> dict[str, str]:
    """What type checkers see under ``if TYPE_CHECKING``: public names and where they are from."""
    tree = ast.parse(Path(gradtool.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    found: dict[str, str] = {}
    for node in guarded.body:
        if isinstance(node, ast.ImportFrom) and node.module != "collections.abc":
            found |= {alias.name: str(node.module) for alias in node.names}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = "gradtool.engine"
    del found["dtype"]  # needed to say what float32 is
    return found


def imported_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_all_is_sorted_and_without_repetition() -> None:
    assert gradtool.__all__ == sorted(set(gradtool.__all__))


def test_all_is_what_is_typed_and_what_is_loaded() -> None:
    assert {*typed(), "__version__"} == set(gradtool.__all__)
    assert typed() == gradtool._HOMES


@pytest.mark.parametrize("name", gradtool.__all__)
def test_every_name_is_the_one_of_its_home(name: str) -> None:
    value = getattr(gradtool, name)
    if name != "__version__":
        home = getattr(importlib.import_module(gradtool._HOMES[name]), name)
        # Functions are wrapped once another test has made a class that can override them.
        assert inspect.unwrap(value) is inspect.unwrap(home)
    assert name in dir(gradtool)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'gradtool' has no attribute 'chek'"):
        gradtool.chek  # noqa: B018 - the access is what is tested


def test_import_alone_loads_nothing_heavy() -> None:
    assert not imported_by("import gradtool").intersection(HEAVY)
    assert not imported_by("from gradtool import Case, __version__").intersection(HEAVY)


def test_the_options_of_a_run_load_nothing_heavy() -> None:
    assert not imported_by("from gradtool.config.options import CheckOptions").intersection(HEAVY)


def test_the_probe_sees_what_is_loaded() -> None:
    assert {"numpy", "gradtool.engine"} <= imported_by("from gradtool import Tensor")
