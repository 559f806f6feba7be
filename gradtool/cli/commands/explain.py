"""``gradtool explain``: the page of a rule, or the list of a family or of all rules."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from gradtool.cli import completion
from gradtool.cli.exit_codes import ExitCode
from gradtool.cli.options.choices import choose
from gradtool.cli.output.streams import reader_may_leave

if TYPE_CHECKING:
    from gradtool.verify.rules import Rule

FORMATS = ("text", "json")


def explain(
    codes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RULE...",
            show_default=False,
            autocompletion=completion.rules,
            help="Rule codes, rule names or families (GT1).",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print the page of every rule.")] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="|".join(FORMATS), help="Output format.")
    ] = "text",
) -> Callable[[], ExitCode]:
    """Explain rules, or list all rules or one family."""
    form = choose(form, FORMATS, "value of --format:")
    return partial(_explain, tuple(codes or ()), every, form)


def _explain(codes: Sequence[str], every: bool, form: str) -> ExitCode:
    from gradtool.verify.rules import RULES

    chosen = [[rule] for rule in RULES.values()] if every else [_meant(c, RULES) for c in codes]
    if form == "text" and chosen and sys.stdout.isatty():
        return _render(chosen)
    if form == "json":
        text = _json([rule for rules in chosen for rule in rules] or RULES.values())
    else:
        text = _SEPARATOR.join(map(_pages, chosen)) if chosen else _index(RULES.values())
    with reader_may_leave(sys.stdout):
        sys.stdout.write(text)
    return ExitCode.PASSED


def _render(chosen: Sequence[Sequence[Rule]]) -> ExitCode:
    """Write pages as a terminal shows them best."""
    from gradtool.report.terminal.console import make_console
    from gradtool.report.terminal.page import render_index, render_page

    console = make_console(sys.stdout, "auto")
    with reader_may_leave(sys.stdout):
        for rules in chosen:
            if len(rules) == 1:
                render_page(rules[0].info, console)
            else:
                render_index([rule.info for rule in rules], console)
    return ExitCode.PASSED


_SEPARATOR = "\n\n"


def _meant(code: str, rules: Mapping[str, Rule]) -> list[Rule]:
    """The rule with this code or name, or those of this family, regardless of case."""
    by_word = {rule.name: rule for rule in rules.values()} | dict(rules)
    folded = {word.casefold(): rule for word, rule in by_word.items()}
    if code.casefold() in folded:
        return [folded[code.casefold()]]
    family = [rule for rule in rules.values() if code and rule.code.startswith(code.upper())]
    if family:
        return family
    from gradtool.errors import UsageError
    from gradtool.verify.rules.codes import suggestion

    near = suggestion(code, by_word) or "; gradtool explain lists them all"
    raise UsageError(f"unknown rule {code!r}{near}")


def _json(rules: Iterable[Rule]) -> str:
    from gradtool.report.formats.json import indented

    return indented([rule.info for rule in rules])


def _pages(rules: Sequence[Rule]) -> str:
    return _page(rules[0]) if len(rules) == 1 else _index(rules)


def _page(rule: Rule) -> str:
    from gradtool.report.formats.sarif import as_text

    heading = f"{rule.code} {rule.name} ({rule.severity.value})"
    return f"{heading}\n\n{as_text(rule.page)}\n"


def _index(rules: Iterable[Rule]) -> str:
    listed = list(rules)
    width = max(len(rule.name) for rule in listed)
    lines = [f"{rule.code}  {rule.name:<{width}}  {rule.summary}" for rule in listed]
    return "\n".join(lines) + "\n"
