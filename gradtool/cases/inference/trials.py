"""Trials: one call to a Function at arguments that may be wrong, and what came of it."""

from __future__ import annotations

import ast
import contextlib
import io
import math
import os
import re
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.adapters.common.arguments import unshared
from gradtool.adapters.common.parsed_source import parsed
from gradtool.adapters.common.random_state import global_generators
from gradtool.adapters.library import library
from gradtool.cases.inference.guards.refusal import Refusal, refusal_of
from gradtool.collect.checkable import Checkable
from gradtool.engine._placeholder import EngineLacksError
from gradtool.sandbox.user_errors import UserError, describe, summarize
from gradtool.verify.protocol.observation import FailureKind


class Trial(msgspec.Struct, frozen=True):
    """Result of one try of a Function at arguments."""

    refusal: str | None = None
    """Why these arguments were refused; None if they were accepted."""
    finite: bool = True
    """False if the result was refused for values that are not finite."""
    output: tuple[int, ...] = ()
    """Shape of the first floating result."""
    backward: bool = False
    """Backward accepted the results too."""
    doubt: str | None = None
    """The reason not to use arguments that forward accepts: backward refuses them, for one."""
    broken: FailureKind | None = None
    """The contract that backward breaks, or ``raised`` for an exception that other arguments might
    avoid; ``saved-type`` if forward saves what is no tensor."""
    reduced: tuple[int, tuple[int, ...]] | None = None
    """The position and shape of a gradient with fewer entries than its argument, or flattened."""
    received: bool = True
    """False if backward ran, and no argument got a gradient."""
    reached: tuple[int, ...] = ()
    """The lines of the user's file at which the call ended, outermost first, or a stage beyond."""
    below: tuple[int, ...] = ()
    """The lines of other files of its package that these called, outermost first."""
    line: str = ""
    """The text of the line that refused them."""
    raised: str = ""
    """The text of the line that raised."""
    lacks: bool = False
    """What they led to is missing here: a package, or a name of the engine."""
    gap: str = ""
    """The error of backward about what is missing here, if forward ran."""
    gap_line: int = 0
    """The line of the user's file that led to it; 0 if none did."""
    missed: bool = False
    """A caller returned without calling the Function."""
    at: Refusal | None = None
    """The calls that led to the exception."""

    @property
    def is_through(self) -> bool:
        """Forward and backward ran, whatever speaks against the arguments."""
        return self.reached == (_THROUGH,)

    @property
    def objection(self) -> str:
        """Text of the refusal, or else of the doubt; "" if there is neither."""
        said = self.refusal or self.doubt or ""
        return f"{said}: {self.raised}" if said.endswith("AssertionError") else said

    def doubted(self, why: str) -> Trial:
        """The same, as arguments that are not to be used."""
        return replace(self, backward=False, doubt=why, reached=(_THROUGH,))


IN_BACKWARD = "backward raises "
"""What the doubt about arguments begins with for which backward raises an exception."""

BEYOND_LINES = 10**8
"""A number that no line has; stages beyond forward's lines have this one and larger ones."""

_IN_SAVING, _IN_RESULT, _IN_BACKWARD, _THROUGH = BEYOND_LINES, BEYOND_LINES + 1, 10**9, 10**10
"""Stages in place of a line: forward ran, what it saved and its result were accepted, and backward
ran too.
"""


def attempt(checkable: Checkable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trial:
    """Run forward, and backward if forward accepts.

    An exception of the user's code refuses the arguments. Running out of memory or time, or
    the end of the process, is not a refusal and is passed on.
    """
    inputs = [_non_leaf(arg) for arg in args]
    named = {name: _non_leaf(arg) for name, arg in kwargs.items()}
    with silenced():
        try:
            result = checkable.call(*inputs, **named)
        except MemoryError:
            raise
        except Exception as error:
            broken = library().contract(error)
            if broken == "raised":
                return refused(error, checkable.file)
            if broken == "saved-type":  # Other arguments might be tensors, and may be saved.
                return Trial(refusal=summarize(error), broken=broken, reached=(_IN_SAVING,))
            return Trial()  # Forward ran through; a rule says what it did wrong.
        trial = _judge(result, checkable.file)
    given = [each for each in args if isinstance(each, library().Tensor) and each.requires_grad]
    is_received = any(each.grad is not None for each in given)
    return replace(trial, received=is_received or trial.lacks)


def refused(error: Exception, file: Path) -> Trial:
    """The trial of arguments for which the user's code raises."""
    lacks = isinstance(error, EngineLacksError)
    return _placed(Trial(refusal=summarize(error), lacks=lacks), error, file)


def _placed(trial: Trial, error: Exception, file: Path) -> Trial:
    """The trial with the lines through which an exception passed, and the text of the last."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(file)]
    last = max((at for at, frame in enumerate(frames) if frame in own), default=-1)
    folder, starts = f"{_package_of(file)}{os.sep}", _statements(file)
    below = [frame for frame in frames[last + 1 :] if frame.filename.startswith(folder)]
    return replace(
        trial,
        reached=(*trial.reached, *(starts.get(f.lineno or 0, f.lineno or 0) for f in own)),
        below=tuple(frame.lineno or 0 for frame in below),
        line=(own[-1].line or "") if own else "",
        raised=(frames[-1].line or "") if frames else "",
        at=refusal_of(error, file),
    )


@lru_cache(maxsize=4)
def _package_of(file: Path) -> Path:
    """The folder of the outermost package that a file belongs to, or of the file without one."""
    folder = file.parent
    while (folder / "__init__.py").is_file() and (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


@lru_cache(maxsize=4)
def _statements(file: Path) -> Mapping[int, int]:
    """The first line of the statement that each line of a file belongs to.

    An argument on the third line of a call is computed before the call, which has the first line.
    """
    try:
        tree = parsed(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return {}
    starts = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
            starts.update(dict.fromkeys(range(node.lineno, end), node.lineno))
    return starts


def rerun_forward(
    checkable: Checkable, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> UserError | None:
    """Run forward again, with its output, and let the debugger look at what it raises."""
    inputs = [_non_leaf(arg) for arg in args]
    named = {name: _non_leaf(arg) for name, arg in kwargs.items()}
    try:
        checkable.call(*inputs, **named)
    except Exception as error:
        return describe(error, checkable.folder)
    return None


def _judge(result: Any, file: Path) -> Trial:
    floating = floating_results(result)
    if not floating:
        return Trial(refusal="forward returned no floating-point tensor", reached=(_IN_RESULT,))
    try:
        arrays = [library().array(value.detach()) for value in floating]
    except Exception as error:
        return Trial(
            refusal=f"forward returned a tensor without readable values: {summarize(error)}"
        )
    if not all(np.isfinite(array).all() for array in arrays):
        return Trial(
            refusal="forward returned values that are not finite",
            finite=False,
            reached=(_IN_RESULT,),
        )
    if not any(value.numel() for value in floating):
        return Trial(refusal="forward returned an empty tensor", reached=(_IN_RESULT,))
    return _backward(floating, file)


def floating_results(result: Any) -> list[Any]:
    """The floating and complex tensors among the results of a call."""
    outputs = [value for value in _flat(result) if isinstance(value, library().Tensor)]
    return [value for value in outputs if value.is_floating_point() or value.is_complex()]


_OF_ARGUMENTS = (
    TypeError,
    AttributeError,
    IndexError,
    ValueError,
    RuntimeError,
    AssertionError,
)
"""Exceptions that say that something is wrong with arguments."""


_GRADIENT = re.compile(r"at (?:index|position) (\d+)")
"""In the message of a broken contract: the gradient that breaks it."""


def _backward(outputs: list[Any], file: Path) -> Trial:
    """Run backward from all outputs that have a graph."""
    shape = tuple(outputs[0].shape)
    recorded = [value for value in outputs if value.requires_grad]
    if not recorded:
        return Trial(
            output=shape,
            doubt="no output depends on a tensor that requires a gradient",
            reached=(_IN_BACKWARD,),
        )
    torch = library().torch
    try:
        torch.autograd.backward(recorded, [torch.ones_like(value) for value in recorded])
    except MemoryError:
        raise
    except EngineLacksError as error:  # Arguments that avoid a missing name would hide it.
        return Trial(
            output=shape,
            backward=True,
            reached=(_THROUGH,),
            lacks=True,
            gap=summarize(error),
            gap_line=max(_placed(Trial(), error, file).reached[-1:], default=0),
        )
    except Exception as error:
        doubt = f"{IN_BACKWARD}{summarize(error)}"
        broken = library().contract(error) if isinstance(error, _OF_ARGUMENTS) else None
        if broken not in (None, "raised"):
            # Backward ran through; a gradient that it returned is wrong, those before it are not.
            named = _GRADIENT.search(str(error))
            reached = (_IN_BACKWARD, BEYOND_LINES, int(named[1]) if named else 0)
            reduced = _reduced(str(error)) if broken == "gradient-shape" else None
            return Trial(output=shape, doubt=doubt, broken=broken, reduced=reduced, reached=reached)
        trial = Trial(output=shape, doubt=doubt, broken=broken, reached=(_IN_BACKWARD,))
        return _placed(trial, error, file)
    return Trial(output=shape, backward=True, reached=(_THROUGH,))


_SHAPES = re.compile(r"at index (\d+) - got \[([\d, ]*)\] but expected .* \[([\d, ]*)\]")
"""Matches the objection to the shape of a gradient: its position, shape and the one expected."""


def _reduced(message: str) -> tuple[int, tuple[int, ...]] | None:
    """Return the position and shape of a gradient with fewer entries, or flattened."""
    found = _SHAPES.search(message)
    if found is None:
        return None
    got, expected = (tuple(map(int, filter(None, found[at].split(",")))) for at in (2, 3))
    is_meant = math.prod(got) < math.prod(expected) or got == (math.prod(expected),)
    return (int(found[1]), got) if is_meant else None


def without_influence(checkable: Checkable, args: tuple[Any, ...], seed: int) -> list[int]:
    """The positions of arguments that ask for a gradient, but that no output depends on.

    Each is scaled entry by entry, and then negated, so that a rounding or a step is crossed too.
    What forward refuses after the change, it depends on.
    """
    reference = _outputs(checkable, args, seed)
    found = []
    for at, arg in enumerate(args):
        if isinstance(arg, library().Tensor) and arg.requires_grad and arg.numel():
            others = ([*args[:at], other, *args[at + 1 :]] for other in _changed(arg))
            if all(_equal(reference, _outputs(checkable, each, seed)) for each in others):
                found.append(at)
    return found


def _outputs(checkable: Checkable, inputs: Sequence[Any], seed: int) -> list[Any] | None:
    """The floating results of a call; None if it raises."""
    with silenced(), global_generators(seed):
        try:
            result = checkable.call(*map(_non_leaf, inputs))
        except MemoryError:
            raise
        except Exception:
            return None
        return [library().array(value.detach()) for value in floating_results(result)]


def read_by_triangle(checkable: Checkable, args: tuple[Any, ...], seed: int) -> list[int]:
    """The positions of square matrices of which no output depends on one of the triangles.

    Their gradient may be that of a symmetric matrix, as ``torch.linalg.eigh`` takes one.
    """
    reference = _outputs(checkable, args, seed)
    found = []
    for at, arg in enumerate(args):
        if isinstance(arg, library().Tensor) and arg.requires_grad and _is_square(arg):
            halves = (arg.detach().tril(), arg.detach().triu())
            others = ([*args[:at], half.requires_grad_(), *args[at + 1 :]] for half in halves)
            if any(_equal(reference, _outputs(checkable, other, seed)) for other in others):
                found.append(at)
    return found


def _is_square(tensor: Any) -> bool:
    return bool(tensor.ndim >= 2 and tensor.shape[-1] == tensor.shape[-2] > 1)


_SMALLEST_CHANGE = 1e-9
"""Share of itself, or of 1, by which each entry is changed to see if forward accepts it."""


def that_may_not_change(checkable: Checkable, args: tuple[Any, ...], seed: int) -> list[int]:
    """The positions of arguments that ask for a gradient, but that forward accepts only as is.

    A matrix that has to equal its transpose, say: no difference quotient could be taken by one of
    its entries.
    """

    def is_accepted(inputs: Sequence[Any]) -> bool:
        with silenced(), global_generators(seed):
            try:
                checkable.call(*map(_non_leaf, inputs))
            except MemoryError:
                raise
            except Exception:
                return False
            return True

    return [
        at
        for at, arg in enumerate(args)
        if isinstance(arg, library().Tensor) and arg.requires_grad and arg.numel()
        if not is_accepted([*args[:at], _slightly_changed(arg), *args[at + 1 :]])
    ]


def _slightly_changed(tensor: Any) -> Any:
    signs = np.sin(1.0 + np.arange(tensor.numel())).reshape(tuple(tensor.shape))
    step = _SMALLEST_CHANGE * library().tensor(signs).to(tensor)
    return (tensor.detach() + step * (1.0 + tensor.detach().abs())).requires_grad_()


def _changed(tensor: Any) -> Iterator[Any]:
    factors = np.linspace(0.55, 1.6, tensor.numel()).reshape(tuple(tensor.shape))
    yield (tensor.detach() * library().tensor(factors).to(tensor)).requires_grad_()
    yield (-tensor.detach()).requires_grad_()


def _equal(one: list[Any] | None, other: list[Any] | None) -> bool:
    if one is None or other is None or len(one) != len(other):
        return False
    return all(np.array_equal(*pair, equal_nan=True) for pair in zip(one, other, strict=True))


def _non_leaf(value: Any) -> Any:
    """Make a tensor no leaf, like one in the middle of a model: it may be changed in place."""
    if isinstance(value, library().Tensor):
        return value.clone()
    return unshared(value)


def _flat(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Drop output and warnings: a search tries many arguments that are wrong."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
