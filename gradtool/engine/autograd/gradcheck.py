"""`gradcheck` and `gradgradcheck` with the signatures and meanings of PyTorch's.

Gradients from the backward walk, and tangents of forward mode, are compared with central
differences of one fixed step, in fixed tolerances. ``gradtool check`` uses an oracle that knows its
own error instead. Both share the code of difference quotients and coordinates, `gradtool.verify`.

Where PyTorch's own behaviour is a known fault, this one differs:

* The inputs have their values again afterwards, also when `func` raises.
* Cotangents have random sign and size, and some have many entries, so a backward that
  ignores, squares, clips or mixes the entries of its cotangent is found.
* Fast mode uses other signed probes in every call (the same ones in every run of a program),
  with a tolerance that does not grow with the number of elements. Where the probes disagree,
  the whole Jacobian decides, if it is not too large.
* Gradients are compared before they are required to be the same twice.
* A large Jacobian is compared by its entries only if a few random combinations of its rows differ
  from the exact derivative of the recorded steps of `func`, or difference quotients do.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._old_jacobians import (
    get_analytical_jacobian,
    get_numerical_jacobian,
)

__all__ = [
    "GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck",
    "gradgradcheck",
]  # fmt: skip

Tensors = Tensor | Sequence[Tensor]

_calls = itertools.count()
"""Numbers the calls, each of which draws other random numbers."""


class GradcheckError(RuntimeError):
    """A gradient is wrong; the message says which and by how much."""


class MisuseError(Exception):
    """gradcheck was called with something impossible, which says nothing about any gradient."""


class GradcheckOptions(msgspec.Struct, frozen=True):
    """Options of `gradcheck` by their names, and the `seed` of everything random."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_batched_forward_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    fast_mode: bool
    masked: bool
    seed: int


def gradcheck(
    func: Callable[..., Tensors],
    inputs: Tensors,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check that the gradients of `func` agree with central differences.

    For each output and each input that requires a gradient, every entry of the Jacobian must
    satisfy ``|analytic - numeric| <= atol + rtol * |numeric|``. Zero cotangents must give zero
    gradients, and two runs of backward must give the same result.

    Args:
        func: A callable that takes the `inputs` as positional arguments and returns a tensor or a
            flat tuple of tensors. Outputs that require no gradient are not compared. If no output
            requires one, none may depend on the inputs.
        inputs: One tensor, or a sequence of tensors and other values. Only tensors that require a
            gradient are varied.
        eps: Absolute step of the central differences.
        atol: Absolute tolerance.
        rtol: Relative tolerance.
        raise_exception: Raise an error if a check fails, instead of returning False.
        nondet_tol: Largest difference allowed between two runs of backward.
        check_undefined_grad: Check that backward treats undefined cotangents as zeros.
        check_grad_dtypes: Check that gradients have the dtypes of the inputs. If `func` is the
            ``apply`` of a Function, this is checked before the engine casts.
        check_batched_grad: Check that a batch of cotangents gives the same gradients as each alone.
        check_batched_forward_grad: Check that a batch of tangents gives the same as each alone.
        check_forward_ad: Check the tangents of forward mode.
        check_backward_ad: Check the gradients of reverse mode.
        fast_mode: Compare one random projection of each Jacobian instead of its entries.
        masked: Let zero cotangents give gradients that are only close to zero. Other effects
            concern sparse tensors, which the engine does not have.

    Returns:
        True if everything agrees; False only without `raise_exception`.

    Raises:
        GradcheckError: Something disagrees.
        AssertionError: Two options contradict each other.
        NotImplementedError: Forward mode meets a Function without a ``jvp``.
        RuntimeError: Elements of an input share memory.
        TypeError: `func` returns something other than tensors.
        ValueError: No input requires a gradient.
    """
    _expect(
        check_forward_ad or check_backward_ad,
        "Expected at least one of check_forward_ad or check_backward_ad to be True",
    )
    _expect(
        check_backward_ad or not check_batched_grad,
        "Setting check_batched_grad=True requires check_backward_ad to be True",
    )
    _expect(
        check_forward_ad or not check_batched_forward_grad,
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True",
    )
    options = GradcheckOptions(
        eps=eps,
        atol=atol,
        rtol=rtol,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad,
        check_forward_ad=check_forward_ad,
        check_backward_ad=check_backward_ad,
        fast_mode=fast_mode,
        masked=bool(masked),
        seed=next(_calls),
    )
    return _passes(_checks().first_order(func, inputs, options), raise_exception)


def gradgradcheck(
    func: Callable[..., Tensors],
    inputs: Tensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check that the gradients of `func` can themselves be differentiated correctly.

    Applies `gradcheck` to the function that maps `inputs` and `grad_outputs` to the gradients of
    `inputs`. It does not check those gradients themselves; use `gradcheck` for that.

    Args:
        func: As for `gradcheck`.
        inputs: As for `gradcheck`.
        grad_outputs: A cotangent for each output that requires a gradient, or None for an undefined
            one. Cotangents that require a gradient are varied, too. By default, they are drawn
            uniformly from [-1, 1).
        eps: As for `gradcheck`.
        atol: As for `gradcheck`.
        rtol: As for `gradcheck`.
        gen_non_contig_grad_outputs: Make the drawn cotangents non-contiguous.
        raise_exception: As for `gradcheck`.
        nondet_tol: As for `gradcheck`.
        check_undefined_grad: As for `gradcheck`.
        check_grad_dtypes: As for `gradcheck`.
        check_batched_grad: As for `gradcheck`.
        check_fwd_over_rev: Differentiate reverse mode by forward mode.
        check_rev_over_rev: Differentiate reverse mode by reverse mode.
        fast_mode: As for `gradcheck`.
        masked: As for `gradcheck`.

    Returns:
        True if everything agrees; False only without `raise_exception`.

    Raises:
        GradcheckError: Something disagrees, or no output requires a gradient.
        ValueError: `grad_outputs` does not have one entry for each output that requires a gradient.
        Exception: As for `gradcheck`.
    """
    _expect(
        check_fwd_over_rev or check_rev_over_rev,
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True",
    )
    _expect(
        check_rev_over_rev or not check_undefined_grad,
        "Setting check_undefined_grad=True requires check_rev_over_rev to be True",
    )
    _expect(
        check_rev_over_rev or not check_batched_grad,
        "Setting check_batched_grad=True requires check_rev_over_rev to be True",
    )
    options = GradcheckOptions(
        eps=eps,
        atol=atol,
        rtol=rtol,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=False,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
        seed=next(_calls),
    )
    contiguous = not gen_non_contig_grad_outputs
    return _passes(
        _checks().second_order(func, inputs, grad_outputs, options, contiguous=contiguous),
        raise_exception,
    )


def _checks() -> Any:
    """Load the module that does the checking.

    It lies above the engine and is known here by name alone, so that the engine depends on
    nothing above it.
    """
    return importlib.import_module("gradtool.adapters.gradcheck.checks")


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def _passes(check: Callable[[], None], raise_exception: bool) -> bool:
    """Return True if `check` raises nothing, False for what it finds unless that is raised.

    Exceptions of the user's code, and those for misuse of gradcheck, always raise.
    """
    try:
        check()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True
