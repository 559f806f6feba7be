"""Writes docs/how-verdicts-are-made.md and its figure, by running the oracle on one entry.

``python tests/docs/write_verdicts.py``.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

# Of this repository, wherever it is run.
from gradtool.verify.oracle.difference_quotients import (  # noqa: E402
    Differences,
    central_differences,
    coordinate_line,
)
from gradtool.verify.oracle.noise import Noise, measure  # noqa: E402
from gradtool.verify.oracle.sampler import Sampler  # noqa: E402
from gradtool.verify.oracle.step_ladder import (  # noqa: E402
    CENTRAL,
    Limits,
    Samples,
    limits,
    sample_ladders,
)
from gradtool.verify.oracle.steps import cheap_step, epsilon, scales  # noqa: E402
from gradtool.verify.protocol.coordinates import Coordinates, FloatArray  # noqa: E402
from gradtool.verify.protocol.observation import Array  # noqa: E402
from gradtool.verify.randomness import generator  # noqa: E402
from gradtool.verify.thresholds.comparison import (  # noqa: E402
    DOUBLE_RTOL,
    GRADIENT_ROUNDINGS,
    MEANINGFUL_ERROR,
)
from gradtool.verify.thresholds.noise import OUTPUT_ROUNDINGS  # noqa: E402
from gradtool.verify.thresholds.steps import LADDER_FIRST_STEP  # noqa: E402

PAGE = ROOT / "docs" / "how-verdicts-are-made.md"
FIGURE = ROOT / "docs" / "how-verdicts-are-made.svg"

X = 0.75
WRONG, RIGHT = -2 * X / (1 + X * X), -2 * X / (1 + X * X) ** 2
SHOWN_RUNGS = 8


@dataclass(frozen=True)
class Entry:
    """The numbers of the one entry, step by step."""

    noise: Noise
    cheap: Differences
    samples: Samples
    limits: Limits

    @property
    def quotients(self) -> tuple[FloatArray, ...]:
        """The central quotients, then with each term of the error eliminated."""
        rows = [self.samples.central[:, 0]]
        for factor in CENTRAL.factors:
            rows.append((factor * rows[-1][1:] - rows[-1][:-1]) / (factor - 1))
        return tuple(rows)


def entry() -> Entry:
    """Take the entry through the oracle."""
    primal = np.array([X])

    def evaluate(primals: list[Array]) -> tuple[Array]:
        (x,) = primals
        return (1 / (1 + x * x),)

    outputs = Coordinates(evaluate([primal]))
    sampler = Sampler(evaluate, [primal], outputs)
    eps = epsilon(primal.dtype)
    noise = measure(sampler, np.array([eps]), generator(0, "noise"))
    line = coordinate_line(sampler, 0, 0, float(scales(primal)[0]))
    cheap = central_differences([line], [cheap_step(line.scale, eps)], 1)
    everything, nothing = np.array([True]), np.array([False])
    (samples,) = sample_ladders([line], noise, [everything], [nothing])
    return Entry(noise, cheap, samples, limits(samples))


def main() -> None:
    """Write the page and the figure."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """The page and the figure by their paths."""
    return {PAGE: page(), FIGURE: figure()}


def page() -> str:
    """The page."""
    at = entry()
    step, gap = float(at.cheap.step[0]), float(at.cheap.gap[0, 0])
    floor = float(at.noise.floor[0])
    central, left, right = at.limits.central, at.limits.left, at.limits.right
    value, error = float(central.value[0]), float(central.error[0])
    rounding = GRADIENT_ROUNDINGS * epsilon(np.dtype(float)) * abs(WRONG)
    return TEXT.format(
        wrong=f"{WRONG:.6g}",
        right=f"{RIGHT:.6g}",
        roundings=f"{OUTPUT_ROUNDINGS:g}",
        floor=f"{floor:.1e}",
        log2=round(math.log2(step)),
        step=f"{step:.1e}",
        cheap=f"{at.cheap.value[0, 0]:.10f}",
        cheap_error=f"{floor / step:.0e}",
        cheap_off=f"{abs(at.cheap.value[0, 0] - RIGHT):.0e}",
        gap=f"{gap:.1e}",
        first=f"{LADDER_FIRST_STEP:g}",
        rungs=len(at.samples.steps),
        rows=_rows(at),
        value=f"{value:.10f}",
        error=f"{error:.0e}",
        message="  gradient of `x` differs from the derivative of output 0 at [0]: "
        f"analytic {WRONG:.6g}, numeric {RIGHT:.6g} ± {error:.1g}",
        left=f"{float(left.value[0]):.6g} ± {float(left.error[0]):.0e}",
        from_right=f"{float(right.value[0]):.6g} ± {float(right.error[0]):.0e}",
        rtol=f"{DOUBLE_RTOL:g}",
        relative=f"{DOUBLE_RTOL * abs(value):.1e}",
        rounding=f"{rounding:.0e}",
        allowed=f"{DOUBLE_RTOL * abs(value) + rounding + error:.2e}",
        difference=f"{abs(WRONG - value):.2g}",
        meaningful=f"{MEANINGFUL_ERROR:g}",
        bound=f"{MEANINGFUL_ERROR * abs(WRONG):.1e}",
        shown=SHOWN_RUNGS,
        difference_shown=f"{abs(WRONG - value):.3g}",
        allowed_shown=f"{DOUBLE_RTOL * abs(value) + rounding + error:.3g}",
    )


def _rows(at: Entry) -> str:
    plain, once, twice = at.quotients
    lines = []
    for rung in range(SHOWN_RUNGS):
        cells = [f"`2**{round(math.log2(at.samples.steps[rung]))}`", f"{plain[rung]:.10f}"]
        cells += [
            f"{row[rung - behind]:.10f}" if rung >= behind else ""
            for behind, row in ((1, once), (2, twice))
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


# ---- the figure -----------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 400, 70, 20, 50
DECADES_X, DECADES_Y = (-7.0, 0.0), (-15.0, 0.0)
COLOURS = ("#c0392b", "#d68910", "#1f618d")
NAMES = ("central quotient", "h² eliminated", "h² and h⁴ eliminated")


def figure() -> str:
    """The figure, as SVG: the error of each column of the table over the step."""
    at = entry()
    parts = [*_axes(), *_noise_line(at)]
    for behind, (row, colour, name) in enumerate(zip(at.quotients, COLOURS, NAMES, strict=True)):
        steps = at.samples.steps[behind:]
        places = [_place(h, abs(q - RIGHT)) for h, q in zip(steps, row, strict=True)]
        parts += [f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>' for x, y in places]
        parts += _legend(behind, colour, name)
    return "\n".join([HEAD, *parts, "</svg>\n"])


def _place(step: float, size: float) -> tuple[int, int]:
    """The pixel of a step and a size, both on logarithmic scales."""
    across = (math.log10(step) - DECADES_X[0]) / (DECADES_X[1] - DECADES_X[0])
    lowest = 10 ** DECADES_Y[0]
    up = (math.log10(max(size, lowest)) - DECADES_Y[0]) / (DECADES_Y[1] - DECADES_Y[0])
    return (
        round(LEFT + across * (WIDTH - LEFT - 20)),
        round(HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - TOP)),
    )


def _axes() -> list[str]:
    parts = []
    for decade in range(-7, 1):
        x, y = _place(10.0**decade, 10 ** DECADES_Y[0])
        parts.append(f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">1e{decade}</text>')
    for decade in range(-15, 1, 3):
        x, y = _place(10 ** DECADES_X[0], 10.0**decade)
        parts.append(f'<line x1="{x}" y1="{y}" x2="{WIDTH - 20}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 8}" y="{y + 4}" text-anchor="end">1e{decade}</text>')
    middle = (LEFT + WIDTH - 20) // 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">step h</text>')
    return parts


def _noise_line(at: Entry) -> list[str]:
    """The noise of the output over the step: no plain quotient can be trusted below it."""
    floor = float(at.noise.floor[0])
    (x1, y1), (x2, y2) = (_place(h, floor / h) for h in (10.0**-7, 10.0**-0.5))
    return [
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#555" stroke-dasharray="5 4"/>',
        f'<text x="{x1 + 8}" y="{y1 - 8}" fill="#555">noise / h</text>',
    ]


def _legend(number: int, colour: str, name: str) -> list[str]:
    y = TOP + 22 + 20 * number
    return [
        f'<circle cx="{LEFT + 20}" cy="{y - 4}" r="4" fill="{colour}"/>',
        f'<text x="{LEFT + 32}" y="{y}">{name}</text>',
    ]


HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
    f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="13">\n'
    "<title>Error of the difference quotients of one entry over the step</title>\n"
    f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
)

TEXT = """# How verdicts are made

This page shows why you can trust a verdict. gradtool does not compare a gradient with a plain
difference quotient: its *derivative oracle* estimates both the derivative and the error of that
estimate. The page follows one entry of a Jacobian through the oracle, with the actual numbers. The
code is in `gradtool/verify/oracle` and `gradtool/verify/comparison`, and the constants are in
`gradtool/verify/thresholds`, with their derivations.

## The entry

The function is `1 / (1 + x**2)` at `x = 0.75`. Its derivative is `-2 * x * y**2 = {right}`. This
`backward` forgets the square:

<!-- file: bell.py -->
```python
import torch
from torch.autograd import Function


class Bell(Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + x * x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return -2 * x * y * grad_output

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.75], dtype=torch.double),)
```

## 1. The analytic value

`backward` runs once for each output, with a cotangent of random sign and a size between 0.5 and
1.5, since a cotangent of exactly one would hide a `backward` that ignores it. The gradient is then
divided by the cotangent. The result is **{wrong}**.

## 2. The noise of the output

A difference quotient divides the noise of two outputs by the step, so gradtool must know the noise
first. It measures the noise with sixth differences of points `2**-22` apart (Moré and Wild, 2011),
and assumes at least {roundings} roundings of the output, since no output is more accurate than its
last operations. Here, that minimum applies: **{floor}**.

## 3. The cheap pass

The first estimate is one central difference, with a step near the cube root of the precision, where
truncation and rounding balance: `h = 2**{log2} = {step}`, a power of two, so that `x + h` is exact.

    (f(x + h) - f(x - h)) / 2h  =  {cheap}

Noise adds an error of at most `noise / h = {cheap_error}`; the actual error is {cheap_off}. The
one-sided quotients differ by {gap}, no more than the curvature explains, so there is no sign of a
kink. If `backward` were correct and gave {right}, the check of this entry would end here, after two
evaluations, because the two agree within the tolerance (step 6). This `backward` disagrees, and the
cheap pass never settles a disagreement.

## 4. The ladder

The entry is refined on a *ladder* of steps. Each step is half the previous one, from {first} of the
input's scale down to where the noise takes over. Quotients are taken from the right, from the left
and centrally. The error of a central quotient is a series in even powers of the step. Combining two
rungs therefore eliminates the term in `h**2`, and combining two such combinations eliminates the
term in `h**4` (Richardson extrapolation). These are the first {shown} of {rungs} rungs:

| step `h` | central quotient | `h**2` eliminated | `h**2` and `h**4` eliminated |
|---|---|---|---|
{rows}

![Error of the three columns against the step size](how-verdicts-are-made.svg)

The figure shows the errors of all rungs. As the step shrinks, the error of each column falls with
its own slope until it meets the noise divided by the step; from there on, it rises with that noise.
Extrapolated values are best at much larger steps, so the noise is divided by a larger number.

An entry far smaller than the others of its array, such as 1e-180 beside 1, is first tried on a
ladder of its own size, which is only ever used to let a gradient pass.

## 5. The value and its error

The oracle does not know the true derivative, so it cannot see these errors. It takes the rung with
the smallest *estimated* error. The estimate is the sum of two parts: twice the larger of the last
two changes (more, if the changes fall slowly), and the noise, weighted as in the extrapolation. The
result is

    {value} ± {error}

The limits from the two sides are {left} and {from_right}. They agree, so this point is not a kink,
and the status of the entry is *known*. If they differed by more than their errors, the entry would
be a *kink*, and any value between them would pass. There are other statuses for functions that
change in steps, are constant, or have no limit.

Tied entries, such as two equal maxima, are also checked together: their gradient must be a mean of
the gradients around the point. The gradient fails if, along the direction of the largest deviation,
`forward` is less steep on both sides than the gradient says. For example, if two tied maxima each
get the whole gradient, the gradient for moving both is twice the slope of `forward`.

If a gradient of symmetric matrices fails entry by entry, gradtool tests whether `forward` reads
only one triangle, as `torch.linalg.eigh` does: whether the outputs stay the same to the last bit as
the other triangle changes. If so, an entry and its mirror image are moved together in all steps
above, and the analytic value is the sum of both gradients. Entries of Hermitian matrices move
with their conjugates.

## 6. The tolerance

A correct `backward` rounds, too. In double precision, the tolerance is `rtol` = {rtol} times the
numeric value, {relative}, plus the rounding errors that an entry may inherit from the largest one
in its row and column, {rounding}. With the error of the oracle added, the analytic value may be off
by **{allowed}**.

## 7. The verdict

The analytic value {wrong} is off by {difference}, more than {allowed}, so the entry **fails**.

To pass, an entry must be within that bound, *and* the oracle's error must be at most {meaningful}
times the largest entry, {bound} here. An entry that agrees with a less accurate estimate is
*unverified* (GT603).

`gradtool check --no-witness bell.py` reports:

<!-- output of: gradtool check --no-witness bell.py -->
<!-- exits: 1 -->
```text
...
{message}
...
    difference  {difference_shown}, tolerance {allowed_shown}
...
```

## The witness

The engine that runs `forward` knows the derivative of every operation in it. So gradtool also runs
`forward` once on copies of the inputs and records its steps. During that run, `no_grad` and
`detach` hide nothing, and custom Functions inside `forward` do not use their `backward`. The
derivative of the recorded steps, called the *witness*, is exact up to rounding: {right} to all
digits for this entry.

gradtool never trusts a witness alone. The recorded run must reproduce the outputs of the Function,
and each entry of the witness must lie within what the evaluations of steps 2 to 5 allow; otherwise
evaluations alone decide. A confirmed witness makes verdicts more precise. Where evaluations
determine a value, the more precise witness replaces it; where evaluations are too inaccurate to
decide, such as close to a kink, a gradient that equals the witness passes. So a witness can clear a
gradient, but it never fails one that evaluations find correct.

With `-v`, and in the JSON and HTML reports, each case names its evidence:

- *exact and numeric*: every comparison used an exact derivative, which evaluations confirmed;
- *numeric only*: evaluations alone decided some derivative. The report gives the reason: `forward`
  leaves the engine (through NumPy or `.item()`, on the line named), cannot be recorded, or has a
  step without a derivative, or evaluations contradict the recorded forward.

To rely on evaluations alone, use `--no-witness`, or `witness: false` in the configuration.

## The explanation

A finding also says which mistake explains the wrong gradient. gradtool compares the gradient with
factors, transposes and other rearrangements of the derivative. Then it holds each recorded step of
`forward` constant in turn: if the gradient is missing exactly what flows through a step, the
finding says "backward treats `var` (line 8) as a constant". It also recognizes a path that is
counted twice or has the wrong sign. Next, it runs `forward` with one expression altered at a time,
such as a sum for a mean, another operand, or a factor left out. If none of these explains the
gradient, it runs `backward` with one expression replaced at a time: another variable, operand or
method, a transpose, the order of saved tensors, a part of the expression, a value that `forward`
computed. It also leaves out statements, lets additions accumulate, and makes loops longer. A number
with mistyped digits is found by the change of the gradient where that number is a little larger. If
`backward` then returns the exact gradients, the finding says "backward is right with
`solve(a.mT, g)` in place of `solve(a, g)` (line 12)". Without a witness, the gradients have to be
the numeric ones. An explanation must fit the gradients for other cotangents and at a point nearby,
too; otherwise, it is dropped. One that also fits where every axis is longer, by one entry or twice
as long, comes before one that does not: a half may be a mean over two entries by chance.

For a wrong second derivative, gradtool does the same with the steps of `backward`. It runs
`backward` with `detach` and `no_grad` disabled, and with the steps of inner Functions in place of
their own `backward`. That recorded `backward` has the second derivatives that `forward` implies, so
it shows which step double backward leaves out or gets wrong: "double backward treats `x.detach()`
(line 12) as a constant".

## The cost of a pass

With a witness, a correct gradient passes without a Jacobian. For a random signed cotangent `u`, one
run of `backward` gives the row `u J`, and the witness has the same row up to rounding. If an entry
of `J` is wrong by `d`, its column in that row is off by `d` times a number between 0.5 and 1.5.
Only the rounding of the column's sum can hide that: for `m` outputs with similar slopes `s`, it is
about `1e-16 * sqrt(m) * s`. gradtool lets the two rows differ by ten thousand times the spacing of
float64 at the column's norm, `2e-12 * sqrt(m) * s`. So one wrong entry in a million shows if it is
off by one part in 5e8, while the entry-by-entry tolerance is one part in 1e6. gradtool uses two
cotangents, in case two mistakes cancel in one of them.

To confirm the witness, gradtool evaluates `forward` on both sides along a random direction of all
arguments, with a step of `2**-17` of their size: two evaluations for any number of inputs. If the
slopes of the two sides differ by more than 8 times the step, two more evaluations at half the step
estimate the error. If the gap does not shrink with the step, there is a kink. Anything that is not
confirmed, differs, or is computed in lower precision than float64 goes through all the steps above,
entry by entry. So this shortcut never fails a gradient.

Rules share their runs. The first cotangent of the comparison also serves the rules about the
contract. The second has digits that float32 cannot hold, so it also shows lost digits. `backward`
runs with several multiples of a cotangent after a single `forward`. Calls that might interfere are
all made together, and layouts are tried two at a time; each is tried alone only if something
differs.

For a million inputs, GT101 and its premises take 5 evaluations of `forward` and 4 of `backward`,
and all rules together take 33 and 42, second derivatives included.

This page is generated by `python tests/docs/write_verdicts.py`."""


if __name__ == "__main__":
    main()
