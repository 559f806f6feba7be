"""The bundled engine's Functions and callables, as the checker sees them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradtool.engine import Tensor, enable_grad, no_grad
from gradtool.engine._tensor import wrap
from gradtool.engine.autograd import Function, grad
from gradtool.gate.adapters.arguments import Arguments
from gradtool.gate.adapters.backward_map import BackwardMap
from gradtool.gate.adapters.binding import bind, function_class, names_of
from gradtool.gate.adapters.failures import failure_of
from gradtool.gate.adapters.observing import Observer, copied
from gradtool.gate.adapters.recording import Record, Recorder
from gradtool.gate.adapters.undefined import undefined_gradients
from gradtool.verify.protocol import Array, Cotangents, Observation, Primals

Outputs = tuple[Tensor | None, ...]


class BundledDifferentiable:
    """A Function of the bundled engine, or a plain callable of its tensors, at one case.

    Implements `gradtool.verify.protocol.Differentiable`. Every call gets fresh tensors, so
    nothing that the user's code does to them lasts.

    Args:
        function: A `Function` subclass, its ``apply``, or any callable that takes and returns
            tensors. Of the last, ``raw`` gradients and what concerns ctx are not seen.
        args: The case's positional arguments. A tensor that requires a gradient is
            differentiated with respect to; tensors inside containers are passed as they are.
        kwargs: Its keyword arguments. A Function's are moved to the positions that its
            ``forward`` gives their names, with defaults in the gaps, because gradients
            belong to positions. A plain callable gets them as they are.
        name: What the user calls it.
        names: Names of the positional arguments, where the signature does not say.

    Raises:
        TypeError: `kwargs` do not fit the signature of ``forward``.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        *,
        name: str,
        names: Sequence[str] | None = None,
    ) -> None:
        self.name = name
        self._class = function_class(function)
        self._function = self._class.apply if self._class else function
        self._recorder: Recorder | None = None
        if self._class:
            args, kwargs = bind(function, args, kwargs)
        self._arguments = Arguments(names or names_of(function, len(args)), args, kwargs)
        self.arguments = self._arguments.tensors
        self.primals = self._arguments.primals
        self.defines_both_backward_and_vjp = self._class is not None and _has_both(self._class)
        self.declares_once_differentiable = bool(
            self._class and _is_once_differentiable(self._class)
        )
        self._home = _folder(self._class or function)

    # ---- values -----------------------------------------------------------------------

    def evaluate(self, primals: Primals) -> tuple[Array | None, ...]:
        """Outputs at `primals`, without building a graph. Exceptions of the user's code pass.

        The arrays may be memory that the function itself holds and writes to again.
        """
        with no_grad():
            outputs = self._apply(self._arguments.fresh(primals))
        return tuple([None if out is None else out.numpy(force=True) for out in outputs])

    def vjps(self, primals: Primals, rows: Sequence[Cotangents]) -> list[tuple[Array | None, ...]]:
        """One forward, then one backward for each row; None where no gradient arrives.

        Raises what the user's code or the engine raises.
        """
        with enable_grad():
            leaves, tensors = self._arguments.tracked(primals, self._arguments.differentiable)
            outputs = self._apply(tensors)
            return [_pulled_back(outputs, _cotangents(outputs, row), leaves) for row in rows]

    def _apply(self, tensors: Sequence[Tensor]) -> Outputs:
        args, kwargs = self._arguments.placed(tensors)
        return _tensors_of(self._function(*args, **kwargs))

    # ---- one call, observed -----------------------------------------------------------

    def call(
        self,
        primals: Primals,
        cotangents: Cotangents | None = None,
        *,
        needs: Sequence[bool] | None = None,
    ) -> Observation:
        """One fully observed call: forward, and backward when `cotangents` are given.

        Where all cotangents are None, a custom Function's backward is run all the same.
        """
        if self._class is None:
            return self._observe(self._function, Record(), primals, cotangents, needs)
        if self._recorder is None:
            self._recorder = Recorder(self._class)
        with self._recorder.recording() as record:
            function = self._recorder.function.apply
            return self._observe(function, record, primals, cotangents, needs)

    def _observe(
        self,
        function: Callable[..., Any],
        record: Record,
        primals: Primals,
        cotangents: Cotangents | None,
        needs: Sequence[bool] | None,
    ) -> Observation:
        needs = self._arguments.differentiable if needs is None else needs
        with enable_grad():
            leaves, tensors = self._arguments.tracked(primals, needs)
            args, kwargs = self._arguments.placed(tensors)
            observer = Observer(self._arguments, tensors, record)
            failure = None
            try:
                outputs = _tensors_of(function(*args, **kwargs))
            except Exception as error:
                failure, outputs = failure_of(error, "forward", self._home), ()
            observer.end_forward(outputs)
            if failure is not None or cotangents is None:
                return observer.observation(failure)
            return self._observe_backward(observer, outputs, cotangents, leaves)

    def _observe_backward(
        self,
        observer: Observer,
        outputs: Outputs,
        cotangents: Cotangents,
        leaves: Sequence[Tensor | None],
    ) -> Observation:
        sent = _cotangents(outputs, cotangents)
        observer.begin_backward(sent)
        failure = None
        try:
            observer.see_gradients(_pulled_back(outputs, sent, leaves))
        except Exception as error:
            failure = failure_of(error, "backward", self._home)
        observer.end_backward()
        return observer.observation(failure)

    # ---- the next order ---------------------------------------------------------------

    def backward_map(self, cotangents: Cotangents) -> BundledDifferentiable:
        """The map (primals, cotangents) -> gradients, as a Differentiable of its own."""
        given = [(at, array) for at, array in enumerate(cotangents) if array is not None]
        function = BackwardMap(self._apply, self._arguments.differentiable, [at for at, _ in given])
        tensors = self._arguments.fresh(self.primals)
        for _, array in given:
            tensors.append(wrap(np.array(array)))
            tensors[-1].requires_grad = True
        names = [argument.name for argument in self.arguments]
        names += _cotangent_names([at for at, _ in given], len(cotangents), names)
        derived = BundledDifferentiable(function, tensors, {}, name=self.name, names=names)
        derived.declares_once_differentiable = self.declares_once_differentiable
        derived._home = self._home
        return derived


def _tensors_of(output: Any) -> Outputs:
    """One entry for each output; None where it is not a tensor."""
    outputs = output if isinstance(output, tuple | list) else (output,)
    return tuple([each if isinstance(each, Tensor) else None for each in outputs])


def _cotangents(outputs: Outputs, arrays: Cotangents) -> list[Tensor | None]:
    """New tensors of the values `arrays`, on the devices of the outputs."""
    return [
        None if array is None or output is None else _like(output, array)
        for output, array in zip(outputs, arrays, strict=True)
    ]


def _like(output: Tensor, array: Array) -> Tensor:
    tensor = wrap(np.array(array))
    return tensor.to(output.device) if output.is_cuda else tensor


def _pulled_back(
    outputs: Outputs, cotangents: Sequence[Tensor | None], leaves: Sequence[Tensor | None]
) -> tuple[Array | None, ...]:
    """The gradient of each leaf, copied; None where none arrives. The graph stays."""
    targets = [leaf for leaf in leaves if leaf is not None]
    roots = [
        (output, cotangent)
        for output, cotangent in zip(outputs, cotangents, strict=True)
        if cotangent is not None and output is not None and output.requires_grad
    ]
    if not targets:
        return (None,) * len(leaves)
    if all(cotangent is None for cotangent in cotangents):
        found = undefined_gradients(outputs, targets)
    elif not roots:
        return (None,) * len(leaves)
    else:
        found = grad(
            [output for output, _ in roots],
            targets,
            [cotangent for _, cotangent in roots],
            retain_graph=True,
            allow_unused=True,
        )
    gradients = iter(found)
    return tuple([None if leaf is None else copied(next(gradients)) for leaf in leaves])


def _cotangent_names(given: Sequence[int], count: int, taken: Sequence[str]) -> list[str]:
    """``grad_output``, or ``grad_output[i]`` where there are several outputs."""
    stem = "grad_output"
    while any(name.partition("[")[0] == stem for name in taken):
        stem = f"grad_{stem}"
    return [stem if count == 1 else f"{stem}[{at}]" for at in given]


def _has_both(cls: type[Function]) -> bool:
    return cls.backward is not Function.backward and cls.vjp is not Function.vjp


def _is_once_differentiable(cls: type[Function]) -> bool:
    """Whether the method that computes gradients carries the mark of `once_differentiable`."""
    methods = (cls.vjp, cls.backward)
    return any(getattr(method, "_once_differentiable", False) for method in methods)


def _folder(function: Any) -> Path:
    """The folder of the module that defines `function`; the current one where none does."""
    try:
        return Path(inspect.getfile(inspect.unwrap(function))).parent
    except TypeError:
        return Path.cwd()
