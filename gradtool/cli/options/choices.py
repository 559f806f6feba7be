"""Values of options: from a closed list, or several in one."""

from __future__ import annotations

from collections.abc import Sequence


def choose(value: str, known: Sequence[str], what: str) -> str:
    """Return `value` if it is one of `known`.

    Args:
        value: What was typed.
        known: What could have been typed.
        what: The words for it in the message, such as ``format``.

    Raises:
        UsageError: The value is unknown; the text names the nearest known one, or all.
    """
    if value in known:
        return value
    from gradtool.errors import UsageError
    from gradtool.spelling import known_names

    raise UsageError(f"unknown {what} {value!r}{known_names(value, known)}")


def printed_form(form: str) -> str:
    """The value of ``--format``.

    Raises:
        UsageError: It is unknown, or of a report that is written and not printed.
    """
    from gradtool.cli.options.declared import FORMATS
    from gradtool.report.formats import FORMATS as WRITTEN

    if form in WRITTEN and form not in FORMATS:
        from gradtool.errors import UsageError

        raise UsageError(f"--format {form}: use --report {form}=- to write it to standard output")
    return choose(form, FORMATS, "value of --format:")


def split(values: Sequence[str] | None) -> tuple[str, ...]:
    """The values of an option that is repeated, or given once with commas, or both."""
    parts = (part.strip() for value in values or () for part in value.split(","))
    return tuple(part for part in parts if part)
