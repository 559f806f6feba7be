"""Findings of what exploring discovered: the rule that is broken, and the case to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.explore.explorer import Discovered
from gradtool.explore.written import written
from gradtool.findings.check_results import check_result
from gradtool.results.report import CheckResult
from gradtool.verify.rules import Flaw


def results(
    node: str, checkable: Checkable, found: Sequence[Discovered], settings: Settings
) -> list[CheckResult]:
    """The results of a Function's node for all that was discovered."""
    return [
        check_result(
            node,
            checkable,
            replace(
                each.outcome, flaws=tuple(_flaw(each, checkable, f) for f in each.outcome.flaws)
            ),
            settings,
        )
        for each in found
    ]


def _flaw(found: Discovered, checkable: Checkable, flaw: Flaw) -> Flaw:
    """The flaw with the place at which it was found."""
    kept = written(checkable, found.variant.point)
    to_keep = f"Found by exploring. To keep it as a case, in gradtool.yaml:\n{kept}" if kept else ""
    where = f"where {found.variant.change} (beside case {found.case.name!r})"
    return replace(
        flaw,
        message=f"{flaw.message}; found by exploring, {where}",
        detail="\n".join(filter(None, [flaw.detail, to_keep])) or None,
    )
