"""Checks of Functions inside test suites, without a command line.

::

    from gradtool.testing import assert_right

    def test_linear():
        assert_right(Linear, [(randn(4, 3).double(), randn(5, 3).double())])

The check is that of ``gradtool check``, in this process. `check` returns the report, for
tests that examine it. ``pytest --gradtool`` makes tests of whole modules.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradtool.results.report import Report


def check(
    function: type | Callable[..., Any],
    cases: Iterable[Any] | None = None,
    *,
    seed: int = 0,
    atol: float | None = None,
    rtol: float | None = None,
    dtype: str | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    engine: str | None = None,
    witness: bool = True,
    explore: str | None = None,
) -> Report:
    """Check one Function, at cases of the caller's or its own.

    ``check(Linear, [(x, weight), Case((x,), {"bias": None}, name="no-bias")])``

    Args:
        function: A `Function` subclass, its ``apply``, a custom operator, an ``nn.Module`` or its
            class, or a callable made of tensor operations: gradtool's or PyTorch's.
        cases: Tuples of arguments, or `Case` objects; a bare tensor is a single argument.
            Without them, the Function's own ``sample_inputs`` are used, or arguments are
            inferred from its signature. When no tensor of a case requires a gradient, all
            floating ones do.
        seed: Seed of everything random.
        atol: Absolute tolerance, in place of one fitted to the dtype.
        rtol: Relative tolerance, in place of one fitted to the dtype.
        dtype: Dtype of all floating tensors: ``float32`` or ``float64``.
        select: Rule codes, or prefixes of them, to ask; all by default.
        ignore: Rule codes, or prefixes of them, to leave out.
        engine: ``bundled`` or ``torch``; None: whose Function or tensors these are.
        witness: Also differentiate the recorded forward step by step, beside the evaluations.
        explore: Effort to find arguments beside the cases at which it is wrong: ``off``,
            ``quick``, the default, or ``deep``.

    Returns:
        The report, whose ``verdict`` is the worst there is and whose ``findings()`` say why.

    Raises:
        TypeError: `function` cannot be called, or `cases` is no list of cases.
        UsageError: A rule or an option does not exist.
    """
    given = None if cases is None else _listed(cases)
    from gradtool.adapters.engines import BUNDLED, chosen_engine, computing_with
    from gradtool.collect.discovery import checkable_of
    from gradtool.config.options import (
        CheckOptions,
        NumericOptions,
        RuleOptions,
        SelectionOptions,
    )
    from gradtool.run.check_object import check_object

    started = time.perf_counter()
    chosen = chosen_engine(engine, function, given or ())
    with computing_with(chosen):
        checkable = checkable_of(function)
        options = CheckOptions(
            selection=SelectionOptions(paths=(checkable.location.path,)),
            rules=RuleOptions(select=tuple(select), ignore=tuple(ignore)),
            numeric=NumericOptions(
                seed=seed,
                engine=chosen if chosen != BUNDLED else None,
                dtype=dtype,
                atol=atol,
                rtol=rtol,
                witness=None if witness else False,
                explore=explore,
            ),
        )
        return check_object(checkable, given, options, started)


def assert_right(
    function: type | Callable[..., Any],
    cases: Iterable[Any] | None = None,
    *,
    strict: bool = False,
    **options: Any,
) -> None:
    """Fail unless a Function is right, with the findings as `gradtool check` prints them.

    Args:
        function: As `check` takes it.
        cases: As `check` takes them.
        strict: Let warnings fail too.
        options: Those of `check`.

    Raises:
        AssertionError: A rule is broken, or something could not be verified or checked.
        TypeError: As `check` raises it.
        UsageError: As `check` raises it.
    """
    __tracebackhide__ = True
    from gradtool.report.findings import problems
    from gradtool.report.summary import summary_line
    from gradtool.report.terminal.findings import findings_text
    from gradtool.report.verdicts import STOPPING, answers, standing

    report = check(function, cases, **options)
    checks = list(report.checks())
    is_stopped = any(standing(each, strict=strict) in STOPPING for each in checks)
    if is_stopped or not any(map(answers, checks)):
        text = findings_text(problems(report), width=100)
        raise AssertionError(f"{text}{summary_line(report)}")


def _listed(cases: Iterable[Any]) -> list[Any]:
    """The cases, unless they are one tensor, over whose rows a loop would go."""
    if hasattr(cases, "requires_grad") or isinstance(cases, str | bytes | dict):
        kind = type(cases).__name__
        raise TypeError(f"cases is a list of cases, not a {kind}: write [(x,)] for a single one")
    return list(cases)
