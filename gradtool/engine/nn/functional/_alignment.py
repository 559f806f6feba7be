"""CTC loss: labels that may align with a longer sequence of scores in any way."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dtype_support import FLOATS, takes
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.creation.creation import full
from gradtool.engine._ops.creation.literals import tensor
from gradtool.engine._ops.elementwise.elementwise import exp
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.reductions.softmax import logsumexp
from gradtool.engine._ops.shape.joining import cat, stack
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._padding import pad
from gradtool.engine.nn.functional._regression import check_reduction

_IMPOSSIBLE = -1e30
"""Stands for log(0), because differences of infinities are undefined."""


class _Lengths(NamedTuple):
    """Lengths of each example's input and target."""

    input: Any
    target: Any


def _ctc_node(*args: Any, **named: Any) -> str | None:
    given = dict(zip(_CTC_ARGUMENTS, args)) | named
    if given.get("reduction", "mean") != "none":
        return None
    return "WhereBackward0" if given.get("zero_infinity") else "CtcLossBackward0"


_CTC_ARGUMENTS = (
    "log_probs", "targets", "input_lengths", "target_lengths", "blank", "reduction",
    "zero_infinity",
)  # fmt: skip


@node_name(_ctc_node)
@takes(FLOATS, "ctc_loss_cpu")
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Negative log-probability of all alignments of the labels with the input.

    Graves et al., "Connectionist Temporal Classification", 2006. As in PyTorch, the gradient is
    that with respect to what went into a `log_softmax` before, which has the same gradient again.
    The gradient of an infinite loss is zero here and NaN in PyTorch.

    Args:
        log_probs: Of shape (T, N, C), or (T, C) for one example.
        targets: Labels of shape (N, S), or those of all examples concatenated.
        input_lengths: Number of time steps of each example.
        target_lengths: Number of labels of each example.
        blank: The class of the blank label.
        reduction: ``none``, ``sum``, or ``mean`` of each example's loss over its labels.
        zero_infinity: Make the loss zero where no alignment is possible.

    Raises:
        RuntimeError: the lengths do not fit.
    """
    check_reduction(reduction)
    lengths = _Lengths(_as_array(input_lengths), _as_array(target_lengths))
    scores = log_probs if log_probs.ndim == 3 else log_probs.unsqueeze(1)
    _check(scores, lengths, blank)
    labels = _insert_blanks(_pad_targets(targets, lengths.target, blank), blank)
    loss = _mass(scores, lengths) - _log_probability(scores, labels, lengths, blank)
    hopeless = loss > -_IMPOSSIBLE / 10
    loss = loss.masked_fill(hopeless, 0.0 if zero_infinity else math.inf)
    if reduction == "sum":
        return loss.sum()
    if reduction == "mean":
        return (loss / loss.new_tensor(np.maximum(lengths.target, 1))).mean()
    return loss.squeeze(0) if log_probs.ndim == 2 else loss


def _mass(scores: Tensor, lengths: _Lengths) -> Tensor:
    """Zeros with the gradient of the probability of anything at all, which is always one."""
    beyond = np.arange(scores.shape[0])[:, None] >= lengths.input
    outside = tensor(beyond, device=scores.device).unsqueeze(2)
    mass = exp(scores).masked_fill(outside, 0).sum((0, 2))
    return mass - mass.detach()


def _as_array(lengths: Any) -> Any:
    """Convert a tensor, a number or a sequence of numbers to an array."""
    listed = lengths.tolist() if isinstance(lengths, Tensor) else lengths
    return np.atleast_1d(np.asarray(listed, dtype=np.int64))


def _check(scores: Tensor, lengths: _Lengths, blank: int) -> None:
    places, count, classes = scores.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, them in (("input_lengths", lengths.input), ("target_lengths", lengths.target)):
        if len(them) != count:
            raise RuntimeError(f"{name} must be of size batch_size")
    if lengths.input.max(initial=0) > places:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {places}, but got value "
            f"{lengths.input.max()}"
        )


def _pad_targets(targets: Tensor, counts: Any, blank: int) -> Tensor:
    """Put the labels of each example in a row, padded with blanks."""
    longest = int(counts.max(initial=0))
    inside = np.arange(longest) < counts[:, None]
    if targets.ndim == 1:
        starts = np.cumsum(counts) - counts
        places = tensor((starts[:, None] + np.arange(longest)) * inside, device=targets.device)
        rows = targets.index_select(0, places.reshape(-1)).reshape(places.shape)
    else:
        rows = targets[:, :longest]
    rows = rows.to(_dtypes.int64)
    return rows.masked_fill(tensor(~inside, device=targets.device), blank)


def _insert_blanks(rows: Tensor, blank: int) -> Tensor:
    """Insert a blank before, between and after the labels."""
    none = rows.new_full(rows.shape, blank)
    return cat([stack([none, rows], -1).flatten(-2), rows.new_full((rows.shape[0], 1), blank)], 1)


def _log_probability(scores: Tensor, labels: Tensor, lengths: _Lengths, blank: int) -> Tensor:
    """Log-probability of all alignments, one time step after the other."""
    emitted = scores.gather(2, labels.expand(scores.shape[0], *labels.shape))
    allowed = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    skips = pad(allowed, [2, 0])[:, : labels.shape[1]]
    ending = tensor(lengths.input, device=scores.device)
    within = full(labels.shape, _IMPOSSIBLE, dtype=scores.dtype, device=scores.device)
    log_alphas = cat([emitted[0, :, :2], within[:, 2:]], 1)
    for at in range(1, scores.shape[0]):
        behind = pad(log_alphas, [1, 0], value=_IMPOSSIBLE)[:, :-1]
        skipped = pad(log_alphas, [2, 0], value=_IMPOSSIBLE)[:, :-2]
        skipped = skipped.masked_fill(~skips, _IMPOSSIBLE)
        further = logsumexp(stack([log_alphas, behind, skipped]), 0) + emitted[at]
        log_alphas = where((ending > at).unsqueeze(1), further, log_alphas)
    return _log_probability_of_end(log_alphas, lengths)


def _log_probability_of_end(log_alphas: Tensor, lengths: _Lengths) -> Tensor:
    """Log-probability of ending at the last label or at the blank after it.

    An example without labels has the blank alone.
    """
    last = tensor(2 * lengths.target, device=log_alphas.device).unsqueeze(1)
    both = cat([log_alphas.gather(1, last), log_alphas.gather(1, (last - 1).clamp_min(0))], 1)
    empty = np.stack([np.zeros(len(lengths.target), dtype=bool), lengths.target == 0], 1)
    ended = logsumexp(both.masked_fill(tensor(empty, device=log_alphas.device), _IMPOSSIBLE), 1)
    nothing = tensor((lengths.input == 0) & (lengths.target == 0), device=log_alphas.device)
    unseen = tensor((lengths.input == 0) & (lengths.target > 0), device=log_alphas.device)
    return ended.masked_fill(nothing, 0.0).masked_fill(unseen, _IMPOSSIBLE)


__all__ = ["ctc_loss"]
