"""Writes docs/names.md: which of PyTorch's names the engine has.

``python tests/engine/write_names.py`` needs the real PyTorch (and its test helper
``expecttest``), from which the names are read. A name counts as *have* when the engine has it
and a test that also runs on PyTorch, or compares with it, mentions it; as *not meant to* when
the reason is written below; else as *not yet*.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import torch

import gradtool.engine as engine

ROOT = Path(__file__).resolve().parents[2]

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
    "bfloat16": "NumPy has no such dtype",
    "chalf": "NumPy has no such dtype",
}

HEADER = """# Names

Which names of PyTorch {version} the bundled engine has. *have*: it is there, and a test that
compares it with PyTorch passes. *not yet*: using it raises an error that names it. *not meant
to*: with the reason.

This page is written by `python tests/engine/write_names.py`.
"""


def main() -> None:
    """Write the page."""
    tested = _words_of_tests()
    parts = [HEADER.format(version=torch.__version__.split("+")[0])]
    parts.extend(
        _section(f"torch.{path}", _public(path), _holder(engine, path), tested) for path in MODULES
    )
    parts.append(_section("torch.Tensor", _differentiable_methods(), engine.Tensor, tested))
    (ROOT / "docs" / "names.md").write_text("\n".join(parts))


def _words_of_tests() -> set[str]:
    """Every identifier in the tests that run on both sides."""
    files = [*(ROOT / "tests" / "engine").rglob("*.py")]
    own = Path(__file__).name
    words: set[str] = set()
    for file in files:
        if file.name != own:
            words.update(re.findall(r"[A-Za-z_]\w*", file.read_text()))
    return words


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
    if name not in tested and not _is_operator(name):
        return "not yet", "there, but not compared with PyTorch"
    return "have", ""


def _is_operator(name: str) -> bool:
    """Operators are written as such in tests, not by name."""
    return name.startswith("__")


if __name__ == "__main__":
    main()
