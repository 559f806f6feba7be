"""The finding for an entry or a comment that ignores rules which nothing violates."""

from __future__ import annotations

from collections.abc import Sequence

from gradtool.config.settings import Settings
from gradtool.findings.finding import make_finding
from gradtool.results.report import Finding, Location
from gradtool.verify.rules import RULES, codes


def needless_ignore(
    node: str,
    settings: Settings,
    rules: Sequence[str],
    *,
    nothing: str,
    reason: str | None,
    location: Location,
    hint: str,
) -> Finding:
    """The finding for rules, in order, of which `nothing`, such as "no case", violates one."""
    them = "it" if len(rules) == 1 else "any of them"
    return make_finding(
        codes.NEEDLESS,
        node,
        settings,
        message=f"there is no need to ignore {named(rules)}: {nothing} violates {them} ({reason})",
        location=location,
        hint=hint,
    )


def named(rules: Sequence[str]) -> str:
    """Name rules in order: ``GT101``, ``GT105 and GT509``; a whole family by its ends."""
    family = [code for code in RULES if code[:3] == rules[0][:3]]
    if len(rules) > 1 and list(rules) == family:
        return f"{rules[0]} to {rules[-1]}"
    return " and ".join([", ".join(rules[:-1]), rules[-1]] if len(rules) > 1 else rules)
