"""Writes docs/names.md: which of PyTorch's names the engine has.

``python tests/engine/write_names.py`` needs the real PyTorch (and its test helper
``expecttest``), from which the names are read. It first runs the tests that compare with
PyTorch, and writes nothing unless they pass. A name counts as *have* when the engine has it and
one of these tests uses it: a name of a module, when a test that runs on the engine and on
PyTorch takes it as an attribute; a method of Tensor, when it is drawn, is the very function
that is drawn, or is called in a case. It is *not meant to* when the reason is written below;
else *not yet*.
"""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import gradtool.engine as engine  # noqa: E402 - of this repository, from wherever it is run
from tests.engine.ops.drawn.table import TABLE  # noqa: E402

OPS = ROOT / "tests" / "engine" / "ops"
ON_BOTH = (ROOT / "tests" / "engine" / "autograd", ROOT / "tests" / "engine" / "func")
"""Tests that take `torch`, and run on the engine and on PyTorch."""

COMPARING = (*ON_BOTH, OPS / "test_drawn.py", OPS / "test_against_torch.py",
             OPS / "test_operators.py")  # fmt: skip

MODULES = (
    "autograd",
    "autograd.function",
    "autograd.forward_ad",
    "autograd.functional",
    "autograd.graph",
    "func",
)

NOT_MEANT_TO = {
    "replace_all_batch_norm_modules_": "there is no running-statistics batch norm under vmap",
    "region_activation_memory_budget": "a setting of PyTorch's compiler",
    "set_warn_on_accumulate_grad_stream_mismatch": "a setting of PyTorch's CUDA streams",
    "set_override_stale_capture_stream": "a setting of PyTorch's CUDA graphs",
    "to_sparse": "the engine has dense tensors only",
    "chalf": "NumPy has no complex numbers of half precision",
}

HEADER = """# Names

PyTorch {version} names in the bundled engine. *have*: implemented, and a test that compares it with
PyTorch passes. *not yet*: using it raises an error with its name. *not meant to*: left out for the
reason given.

This page is written by `python tests/engine/write_names.py`.
"""


def main() -> None:
    """Write the page, if the tests that it speaks of pass."""
    command = [sys.executable, "-m", "pytest", "-q", *map(str, COMPARING), *sys.argv[1:]]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        sys.exit("nothing written: a test that compares with PyTorch does not pass")
    (ROOT / "docs" / "names.md").write_text(page())


def page() -> str:
    """The page."""
    parts = [HEADER.format(version=torch.__version__.split("+")[0])]
    of_modules, of_tensor = used_on_both(), methods_compared()
    parts.extend(
        _section(f"torch.{path}", _public(path), _holder(engine, path), of_modules)
        for path in MODULES
    )
    parts.append(_section("torch.Tensor", _differentiable_methods(), engine.Tensor, of_tensor))
    return "\n".join(parts)


def used_on_both() -> set[str]:
    """Attributes in functions that take `torch`, of the tests that run on both sides."""
    files = [file for folder in ON_BOTH for file in folder.glob("*.py")]
    functions = [
        node
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and "torch" in {arg.arg for arg in node.args.args}
    ]
    return _attributes(functions)


def methods_compared() -> set[str]:
    """Methods of Tensor that are drawn, are a function that is drawn, or are called in a case."""
    names = {entry.partition(" ")[0] for entry in TABLE}
    functions = {
        inspect.unwrap(function) for name, function in engine._FUNCTIONS.items() if name in names
    }
    same = {
        name
        for name, method in vars(engine.Tensor).items()
        if inspect.isfunction(method) and inspect.unwrap(method) in functions
    }
    cases = [ast.parse(file.read_text()) for file in OPS.glob("*_cases.py")]
    drawn = {name.removeprefix("Tensor.") for name in names if name.startswith("Tensor.")}
    return same | drawn | _attributes(cases) | _operators()


def _operators() -> set[str]:
    """Operators are written as such in `test_operators.py`, and named there in strings."""
    tree = ast.parse((OPS / "test_operators.py").read_text())
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _attributes(trees: Iterable[ast.AST]) -> set[str]:
    return {
        node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }


def _holder(root: Any, path: str) -> Any:
    for name in path.split("."):
        root = getattr(root, name)
    return root


def _public(path: str) -> list[str]:
    module = _holder(torch, path)
    return sorted(module.__all__)


def _differentiable_methods() -> list[str]:
    """Methods of Tensor that PyTorch's own operator database says have a derivative."""
    from torch.testing._internal.common_methods_invocations import op_db

    names = {info.name for info in op_db if info.supports_autograd}
    return sorted(name for name in names if "." not in name and hasattr(torch.Tensor, name))


def _section(title: str, names: list[str], holder: Any, tested: set[str]) -> str:
    rows = [(name, *_standing(name, holder, tested)) for name in names]
    have = sum(standing == "have" for _, standing, _ in rows)
    lines = [f"\n## {title}\n", f"{have} of {len(rows)}.\n", "| name | | |", "|---|---|---|"]
    lines.extend(f"| `{name}` | {standing} | {why} |" for name, standing, why in rows)
    return "\n".join(lines) + "\n"


def _standing(name: str, holder: Any, tested: set[str]) -> tuple[str, str]:
    if name in NOT_MEANT_TO:
        return "not meant to", NOT_MEANT_TO[name]
    found = inspect.getattr_static(holder, name, None)
    if found is None or "Lack" in type(found).__name__ or "laceholder" in type(found).__name__:
        return "not yet", ""
    if name not in tested:
        return "not yet", "there, but not compared with PyTorch"
    return "have", ""


if __name__ == "__main__":
    main()
