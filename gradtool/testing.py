"""For people's own test suites: check a Function without a command line.

::

    def test_linear():
        report = gradtool.check(Linear)
        assert report.verdict is gradtool.Verdict.PASS

It is the check that ``gradtool check`` makes, and the report is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradtool.results import Report


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
) -> Report:
    """Check one Function.

    Args:
        function: A `Function` subclass, its ``apply``, or a callable made of tensor
            operations.
        cases: Tuples of arguments, or `Case` objects. Without them, the Function's own
            ``sample_inputs`` are used, or arguments are inferred from its signature. When
            no tensor of a case requires a gradient, all floating ones do.
        seed: Seed of whatever is random.
        atol: Absolute tolerance, in place of one fitted to the dtype.
        rtol: Relative tolerance, in place of one fitted to the dtype.
        dtype: Dtype of all floating tensors: ``float32`` or ``float64``.
        select: Rule codes, or prefixes of them, to ask; all by default.
        ignore: Rule codes, or prefixes of them, to leave out.

    Returns:
        The report, whose ``verdict`` is the worst there is and whose ``findings()`` say why.

    Raises:
        TypeError: `function` cannot be called.
        UsageError: A rule or an option does not exist.
    """
    from gradtool.gate.discover import subject_of
    from gradtool.gate.options import CheckOptions
    from gradtool.gate.single import check_subject

    started = time.perf_counter()
    subject = subject_of(function)
    options = CheckOptions(
        paths=(subject.location.path,),
        seed=seed,
        atol=atol,
        rtol=rtol,
        dtype=dtype,
        select=tuple(select),
        ignore=tuple(ignore),
    )
    given = None if cases is None else list(cases)
    return check_subject(subject, given, options, started)
