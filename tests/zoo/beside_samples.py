"""The corpora of ``tests/explore``: right at their samples, wrong beside them."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from gradtool.results.report import Verdict
from gradtool.run.runner import check
from tests.options import check_options

CORPUS = Path(__file__).parents[1] / "explore" / "corpus"

HEAD = """## Away from the samples

The Functions in `tests/explore/corpus` show what exploring finds. The gradients of the wrong ones
are correct at the arguments of their samples, which is all that PyTorch's checks are given. The
correct ones are correct only for arguments with properties that all their samples share. A Function
counts as found or rejected if a tool reports anything; gradtool runs with `--strict`.
"""


def section(row: Callable[..., str], said: Callable[[Callable[[], Any]], str], passes: str) -> str:
    """The part of the page about the corpora.

    Args:
        row: Makes a row of a table from its cells.
        said: Runs one of PyTorch's checks and returns what it says.
        passes: Stands for a check that says nothing.
    """
    rows = [row("Functions", "", "gradtool", "gradcheck", "gradcheck and gradgradcheck")]
    rows.append(row("---", *["---:"] * 4))
    for kind, what in (("wrong", "wrong, found"), ("right", "correct, rejected")):
        functions = [
            each for path in sorted((CORPUS / kind).glob("*.py")) for each in _loaded(path)
        ]
        answers = [list(_answers(each, said)) for each in functions]
        first = sum(any(one != passes for one, _ in cases) for cases in answers)
        both = sum(any({one, two} != {passes} for one, two in cases) for cases in answers)
        rows.append(row(what, len(functions), _reported(kind), first, both))
    return "\n".join([HEAD, *rows, ""])


def _reported(kind: str) -> int:
    paths = tuple(str(path) for path in sorted((CORPUS / kind).glob("*.py")))
    report = check(check_options(paths=paths, strict=True))
    fine = (Verdict.PASS, Verdict.SKIPPED)
    return sum(function.verdict not in fine for _, function in report.functions())


def _loaded(path: Path) -> Iterator[Any]:
    """The Functions of a module that give their own arguments, with PyTorch."""
    spec = importlib.util.spec_from_file_location(f"torch_{path.parent.name}_{path.stem}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Where the source of its classes is looked for.
    spec.loader.exec_module(module)
    for value in vars(module).values():
        if isinstance(value, type) and hasattr(value, "sample_inputs"):
            yield value


def _answers(function: Any, said: Callable[[Callable[[], Any]], str]) -> Iterator[tuple[str, str]]:
    """The words of gradcheck and gradgradcheck about each sample."""
    once = "once_differentiable" in inspect.getsource(function)
    for args in _samples(function):
        call, given = _of_tensors(function, _leaves(args))
        first = said(lambda call=call, given=given: torch.autograd.gradcheck(call, given))
        second = said(lambda call=call, given=given: torch.autograd.gradgradcheck(call, given))
        yield first, first if once else second


def _of_tensors(function: Any, args: Sequence[Any]) -> tuple[Callable[..., Any], list[Any]]:
    """The Function of its tensors alone, and these: PyTorch's checks take no record apart."""
    places = [at for at, each in enumerate(args) if isinstance(each, torch.Tensor)]

    def call(*tensors: Any) -> Any:
        given = dict(zip(places, tensors, strict=True))
        return function.apply(*(given.get(at, each) for at, each in enumerate(args)))

    return call, [args[at] for at in places]


def _samples(function: Any) -> Iterable[Sequence[Any]]:
    """The arguments of each case; one case may be given by itself."""
    given = function.sample_inputs()
    if isinstance(given, torch.Tensor):
        return [(given,)]
    return [given] if isinstance(given, tuple) else given


def _leaves(args: Sequence[Any]) -> list[Any]:
    """The arguments with new tensors; all require gradients if the sample does not say which."""
    tensors = [each for each in args if isinstance(each, torch.Tensor)]
    is_said = any(each.requires_grad for each in tensors)
    return [
        each.detach().clone().requires_grad_(each.requires_grad if is_said else _may_require(each))
        if isinstance(each, torch.Tensor)
        else each
        for each in args
    ]


def _may_require(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()
