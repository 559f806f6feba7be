"""Results for code that could not run at all: the rules GT001, GT002 and GT005 to GT008.

They are created from plain data, by the process that did the work or by the one that watched
it die.
"""

from __future__ import annotations

import linecache
from pathlib import Path

from gradtool.collect.declared import declared_functions
from gradtool.collect.loader import LoadError, parse
from gradtool.collect.unchecked import Purpose, Unchecked
from gradtool.config.entries import Entry
from gradtool.config.settings import Settings
from gradtool.findings.finding import could_not_run, make_finding
from gradtool.results.report import CheckResult, Location, Severity, Skip, SkipKind, Verdict
from gradtool.sandbox.termination import Termination
from gradtool.verify.rules import codes


class NoCase(Exception):  # noqa: N818 - the state of a Function, not a fault of the program
    """No arguments could be created for a Function.

    Args:
        message: Why, in one line.
        hint: A way to fix it.
        detail: More lines for ``-v``.
        location: The user's line that is to blame, if there is one.
        part: The part of the Function's entry in the configuration that does not fit it, such as
            ``surrogate_of``.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        detail: str | None = None,
        location: Location | None = None,
        part: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.detail = detail
        self.location = location
        self.part = part

    def at(self, entry: Entry | None) -> NoCase:
        """The same at its line of the configuration, if a part of `entry` is to blame."""
        if entry is None or self.part not in entry.places:
            return self
        message = f"{entry.name}.{self.part}: {self.message}"
        return NoCase(message, hint=self.hint, location=entry.places[self.part])


def termination_result(
    node: str, termination: Termination, settings: Settings, location: Location, during: str = ""
) -> CheckResult:
    """The result for a Function or case that was terminated.

    Args:
        node: Its node id.
        termination: The cause.
        settings: Settings of the Function.
        location: Location of the Function, used if the termination has none.
        during: Continues the message, for a termination outside of the check of a case.
    """
    finding = make_finding(
        termination.code,
        node,
        settings,
        message=f"the Function {termination.message}{during}",
        location=termination.location or location,
        hint=termination.hint,
        detail=termination.detail,
    )
    return could_not_run(finding)


def import_terminated(
    shown: str,
    termination: Termination,
    settings: Settings,
    *,
    in_part: bool = False,
    path: str | None = None,
) -> CheckResult:
    """GT001 for a module whose import was terminated; a warning if a part was imported then.

    It names the Functions that the file at `path` declares.
    """
    finding = make_finding(
        codes.NOT_IMPORTED,
        shown,
        settings,
        message=f"its import {termination.message}{_slow(termination)}"
        f"{_IN_PART if in_part else _left_unchecked(path)}",
        location=termination.location or Location(path=shown),
        severity=Severity.WARNING if in_part else None,
        hint=termination.hint,
        detail=termination.detail,
    )
    if in_part:
        return CheckResult(rule=finding.rule, verdict=Verdict.FAIL, findings=(finding,))
    return could_not_run(finding)


def _slow(termination: Termination) -> str:
    """The import that was running when the time ran out."""
    place = termination.location
    if termination.code != codes.TIMED_OUT or place is None or place.line is None:
        return ""
    line = linecache.getline(place.path, place.line).strip()
    return f" in `{line}`" if line.startswith(("import ", "from ")) else ""


def not_imported(
    shown: str,
    error: LoadError,
    settings: Settings,
    *,
    in_part: bool = False,
    path: str | None = None,
) -> CheckResult:
    """GT001 for the module `shown`, of which a part may have been imported all the same.

    Then it is a warning, unless code of the user's own fails. Otherwise it names the Functions that
    the file at `path` declares.
    """
    cause = error.cause
    is_warning = in_part and not error.is_of_users
    finding = make_finding(
        codes.NOT_IMPORTED,
        shown,
        settings,
        message=f"{error.message}{_IN_PART if in_part else _left_unchecked(path)}",
        location=(cause.location if cause else None) or Location(path=shown),
        severity=Severity.WARNING if is_warning else None,
        hint=error.hint,
        detail=cause.detail if cause else None,
    )
    if is_warning:
        return CheckResult(rule=finding.rule, verdict=Verdict.FAIL, findings=(finding,))
    return could_not_run(finding)


def _left_unchecked(path: str | None) -> str:
    """Name the Functions of a file, by its syntax tree: no report of the module lists them."""
    try:
        tree = parse(Path(path)) if path else None
    except LoadError:
        tree = None
    names = [f"`{each.name}`" for each in declared_functions(tree)] if tree else []
    verb = "is" if len(names) == 1 else "are"
    return f"; {', '.join(names)} {verb} not checked" if names else ""


_IN_PART = "; only the code that its Functions need was imported"


def checker_replaced(
    node: str, message: str, location: Location, settings: Settings
) -> CheckResult:
    """GT009 for a module or Function whose code changed the checker in its process."""
    finding = make_finding(
        codes.CHECKER_REPLACED,
        node,
        settings,
        message=f"{message}, so the verdicts on this code do not count",
        location=location,
        hint="patch only what your own code calls, and nothing that the checker uses",
    )
    return could_not_run(finding)


def source_changed(node: str, shown: str, settings: Settings) -> CheckResult:
    """GT010 for a module, or a Function of it, whose file has changed since it was read."""
    finding = make_finding(
        codes.SOURCE_CHANGED,
        node,
        settings,
        message="the file changed during the run, so the results are for an earlier version of it",
        location=Location(path=shown),
        hint="run the check again, and do not change the file while it runs",
    )
    return could_not_run(finding)


def no_case(node: str, location: Location, reason: NoCase, settings: Settings) -> CheckResult:
    """GT002 for the Function with the node id `node`, defined at `location`."""
    finding = make_finding(
        codes.NO_CASE,
        node,
        settings,
        message=reason.message,
        location=reason.location or location,
        hint=reason.hint,
        detail=reason.detail,
    )
    return could_not_run(finding)


def not_checked(node: str, location: Location, why: Unchecked, settings: Settings) -> CheckResult:
    """The result for a Function that is listed only."""
    if why.purpose in (Purpose.ABSTRACT, Purpose.NO_GRADIENT):
        skip = Skip(kind=SkipKind.INAPPLICABLE, detail=why.message)
        return CheckResult(rule=codes.NO_CASE, verdict=Verdict.SKIPPED, skip=skip)
    misspelt = why.purpose is Purpose.MISSPELT
    finding = make_finding(
        codes.BACKWARD_RAISED if misspelt else codes.NOT_REACHED,
        node,
        settings,
        message=f"the Function {why.message}",
        location=location,
        hint=why.hint,
    )
    verdict = Verdict.ERROR if misspelt else Verdict.FAIL
    return CheckResult(rule=finding.rule, verdict=verdict, findings=(finding,))


def out_of_time() -> CheckResult:
    """The result of a case that was not checked because earlier ones used up the time."""
    skip = Skip(kind=SkipKind.OUT_OF_TIME)
    return CheckResult(rule=codes.TIMED_OUT, verdict=Verdict.SKIPPED, skip=skip)
