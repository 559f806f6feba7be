"""Selective checkpoints: results of some operations are kept, and not computed again.

Operations are intercepted where their arrays are computed. Sums and the arithmetic operators have a
way of their own there: a policy is not asked about them, and they are computed again.
"""

from __future__ import annotations

import contextlib
import enum
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from gradtool.engine import ops
from gradtool.engine._profiling.hooks import listening
from gradtool.engine._profiling.recorder import Recorder
from gradtool.engine._tensor import wrap

SAC_IGNORED_OPS = {ops.Operator("aten", "detach", "default")}
"""Operations that are computed again whatever the policy is."""


class CheckpointPolicy(enum.Enum):
    """Decisions about an operation. Here those with MUST and PREFER are the same."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """Facts about an operation that a policy gets besides its arguments."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


Policy = Callable[..., Any]
_SAVING = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE, True)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Return the contexts of a checkpoint that keeps the results of some operations.

    Args:
        policy_fn_or_list: ``policy(ctx, op, *args, **kwargs)`` returns a `CheckpointPolicy`; or the
            operations, such as ``torch.ops.aten.mm.default``, whose results are kept.
        allow_cache_entry_mutation: Ignored: what is kept is a copy, which nothing changes.

    Raises:
        ValueError: the list has something else than overloads of operations.
        TypeError: it is neither a function nor a list.
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            _check_overload(op)
        listed: list[Any] = policy_fn_or_list
        kept = _Kept(
            lambda _ctx, op, *_args, **_kwargs: (
                CheckpointPolicy.MUST_SAVE if op in listed else CheckpointPolicy.PREFER_RECOMPUTE
            )
        )
    elif callable(policy_fn_or_list):
        kept = _Kept(policy_fn_or_list)
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return kept.saving(), _Again(kept)


def _check_overload(op: Any) -> None:
    if isinstance(op, ops.Operator) and op.overload is not None:
        return
    hint = ""
    if isinstance(op, ops.Operator):
        hint = (
            "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have "
            "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
        )
    raise ValueError(
        f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {hint}"
    )


Intercept = Callable[[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
"""``intercept(name, compute, arrays, params)`` returns the result of an operation."""


class _Interceptor(Recorder):
    """A recorder of no times, which hands the operations on."""

    def __init__(self, intercept: Intercept) -> None:
        super().__init__(clock=lambda: 0)
        self._intercept = intercept
        self._is_inside = False

    def around_work(self, work: Callable[..., Any], *args: Any, **params: Any) -> Any:
        """Let the function decide about the operation that is open."""
        self.spans.clear()  # they are not read, and would pile up
        if self._is_inside:  # part of an operation
            return work(*args, **params)
        self._is_inside = True
        try:
            name = self._open[-1].name.removeprefix("aten::")
            return self._intercept(name, work, args, params)
        finally:
            self._is_inside = False


class _Kept:
    """Results of operations, by name and number of the call."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._results: dict[tuple[str, int], Any] = {}
        """None for one that is computed again, `_TAKEN` once it was used."""

    @contextlib.contextmanager
    def saving(self) -> Iterator[None]:
        """Keep results in the block as the policy says."""
        calls: Counter[str] = Counter()

        def compute_once(
            name: str, compute: Callable[..., Any], arrays: tuple[Any, ...], params: dict[str, Any]
        ) -> Any:
            result = compute(*arrays, **params)
            op = _operator(name, arrays)
            if op in SAC_IGNORED_OPS or _is_view(result, arrays):
                return result
            ctx = SelectiveCheckpointContext(is_recompute=False, op_output=_tensors(result))
            keep = self._policy(ctx, op, *map(_tensors, arrays), **params) in _SAVING
            self._results[name, calls[name]] = _copied(result) if keep else None
            calls[name] += 1
            return result

        with listening(_Interceptor(compute_once)):
            yield

    @contextlib.contextmanager
    def using(self) -> Iterator[None]:
        """Take results in the block from those that were kept."""
        calls: Counter[str] = Counter()

        def take(
            name: str, compute: Callable[..., Any], arrays: tuple[Any, ...], params: dict[str, Any]
        ) -> Any:
            place = name, calls[name]
            kept = self._results.get(place)
            if kept is _TAKEN:
                raise RuntimeError(
                    "Trying to backward an extra time. You are only allowed to backward once on "
                    "any region computed under selective activation checkpoint."
                )
            if kept is None:
                result = compute(*arrays, **params)
                calls[name] += place in self._results and not _is_view(result, arrays)
                return result
            calls[name] += 1
            self._results[place] = _TAKEN
            return kept

        with listening(_Interceptor(take)):
            yield


_TAKEN = ("taken",)


class _Again(AbstractContextManager[None]):
    """The block of the second call, which each backward walk enters anew."""

    def __init__(self, kept: _Kept) -> None:
        self._kept = kept
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        self._entered.append(self._kept.using())
        self._entered[-1].__enter__()

    def __exit__(self, *exc_info: Any) -> None:
        self._entered.pop().__exit__(*exc_info)


_BY_DIMENSIONS = {(1, 1): "dot", (2, 1): "mv", (2, 2): "mm", (3, 3): "bmm"}
"""What torch runs for ``matmul`` of factors with so many dimensions."""


def _operator(name: str, arrays: tuple[Any, ...]) -> Any:
    """Return the operator of ``torch.ops.aten`` that torch runs in the place of a primitive."""
    if name == "matmul":
        name = _BY_DIMENSIONS.get(tuple(each.ndim for each in arrays), name)
    overload = "default"
    if name in _WITH_OVERLOADS and len(arrays) > 1:
        overload = "Tensor" if hasattr(arrays[1], "ndim") else "Scalar"
    return ops.Operator("aten", name, overload)


_WITH_OVERLOADS = ("add", "div", "mul", "sub")


def _is_view(result: Any, arrays: tuple[Any, ...]) -> bool:
    arrays = tuple(each for each in arrays if isinstance(each, np.ndarray))
    return isinstance(result, np.ndarray) and any(
        np.may_share_memory(result, each) for each in arrays
    )


def _tensors(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_tensors, value))
    return wrap(value) if hasattr(value, "strides") else value


def _copied(value: Any) -> Any:
    return tuple(map(_copied, value)) if isinstance(value, tuple) else value.copy()
