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
    """Check one Function, at the given cases or its own.

    ``check(Linear, [(x, weight), Case((x,), {"bias": None}, name="no-bias")])``

    Args:
        function: A `Function` subclass, its ``apply``, a custom operator, an ``nn.Module`` or its
            class, or a callable made of tensor operations, from gradtool or from PyTorch.
        cases: Tuples of arguments, or `Case` objects; a bare tensor is a single argument.
            By default, the Function's own ``sample_inputs``, or arguments inferred from its
            signature. If no tensor of a case requires a gradient, all floating-point tensors do.
        seed: Seed of all random numbers.
        atol: Absolute tolerance, instead of the default for the dtype.
        rtol: Relative tolerance, instead of the default for the dtype.
        dtype: Dtype of all floating-point tensors: ``float32`` or ``float64``.
        select: Codes of the rules to check, or prefixes of them; all by default.
        ignore: Codes of the rules to skip, or prefixes of them.
        engine: ``bundled`` or ``torch``; by default, the one that the Function or its tensors use.
        witness: Also differentiate the recorded forward step by step, as exact evidence.
        explore: Effort spent on searching for arguments that the Function gets wrong: ``off``,
            ``quick`` (the default) or ``deep``.

    Returns:
        The report. Its ``verdict`` is the worst of all checks, and its ``findings()`` say why.

    Raises:
        TypeError: `function` cannot be called, or `cases` is not a list of cases.
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
    """Fail with the findings, as `gradtool check` prints them, unless a Function is right.

    Args:
        function: The same as for `check`.
        cases: The same as for `check`.
        strict: Also fail for warnings.
        options: Other arguments of `check`.

    Raises:
        AssertionError: A rule is violated, or something could not be verified or checked.
        TypeError: The same as for `check`.
        UsageError: The same as for `check`.
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
    """The cases; a single tensor, whose rows a loop would take for cases, is an error."""
    if hasattr(cases, "requires_grad") or isinstance(cases, str | bytes | dict):
        kind = type(cases).__name__
        raise TypeError(f"cases is a list of cases, not a {kind}: write [(x,)] for a single one")
    return list(cases)
