"""Help pages: options in sections, whole descriptions, examples and the address of the docs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from typer.core import TyperCommand, TyperGroup

from gradtool.package import DOCS

_FIRST_STEPS = (
    ("gradtool check my_ops.py", "Check every Function in a file or folder."),
    ("gradtool explain GT101", "Explain a finding and how to fix it."),
    ("gradtool init", "Write a gradtool.yaml for the Functions found."),
    ("gradtool doctor", "Find out what is missing on this machine."),
)

_PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "check": (
        "quick-start.md",
        (
            "gradtool check my_ops.py",
            "gradtool check src -k 'exp and not sort' --select GT1,GT2",
            "gradtool check src --report sarif=gradtool.sarif --strict",
        ),
    ),
    "config": ("configuration.md", ("gradtool config my_ops.py",)),
    "derive": ("deriving.md", ("gradtool derive my_ops.py::Cube --jvp",)),
    "doctor": ("installing.md", ("gradtool doctor",)),
    "explain": ("rules.md", ("gradtool explain GT101", "gradtool explain wrong-gradient")),
    "init": ("configuration.md", ("gradtool init src --workflow",)),
    "merge": ("ci.md", ("gradtool merge part-1.json part-2.json",)),
    "profile": ("profile.md", ("gradtool profile my_ops.py --report html=profile.html",)),
    "profile-transfer": (
        "transfer.md",
        ("gradtool profile-transfer --size 1MiB,64MiB --budget 10 --report json=out.json",),
    ),
    "record": ("recording.md", ("gradtool record -- pytest tests",)),
    "run": ("engines.md", ("gradtool run bench.py --steps 1",)),
    "schema": ("ci.md", ("gradtool schema report",)),
}
"""For each command, its page of the docs and examples of its use."""

_DURATIONS = 10
"""Durations that ``--durations`` lists unless a number follows it."""

_OPTIONS = "Options"
_SECTIONS = (
    "Arguments",
    "What to check",
    "How to check",
    "Reports",
    "Adoption",
    "Execution",
    _OPTIONS,
)
"""In this order; `gradtool.cli.options.declared` says which option is in which."""


class CommandHelp(TyperCommand):
    """A command whose help has sections of options, examples and the address of its docs."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; ``--durations`` may stand without a number."""
        if any(parameter.name == "durations" for parameter in self.params):
            args = list(_with_number(args))
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the sections of options; the last has ``--help``."""
        for title, records in self.sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)

    def sections(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """The parameters by section, each with its description."""
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in _SECTIONS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections[_section(parameter)].append(record)
        return {title: records for title, records in sections.items() if records}

    @property
    def page(self) -> str:
        """The page of the docs."""
        return _PAGES[str(self.name)][0]

    @property
    def examples(self) -> tuple[str, ...]:
        """Commands to try."""
        return _PAGES[str(self.name)][1]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - Click's signature.
        """Write the examples and the address."""
        with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
        formatter.write(f"\nDocs: {DOCS}/{self.page}\n")


def _with_number(arguments: Sequence[str]) -> Iterator[str]:
    """Give ``--durations`` its default number if none follows it."""
    for argument, following in zip_longest(arguments, arguments[1:], fillvalue=""):
        bare = argument == "--durations" and not following.lstrip("-").isdecimal()
        yield f"--durations={_DURATIONS}" if bare else argument


def _section(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    return parameter.rich_help_panel or _OPTIONS


class ProgramHelp(TyperGroup):
    """The program; its help begins with the first steps."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the first steps, the commands with whole descriptions, and the options."""
        with formatter.section("First steps"):
            formatter.write_dl(_FIRST_STEPS)
        self.format_commands(ctx, formatter)
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        with formatter.section(_OPTIONS):
            formatter.write_dl([record for record in records if record])

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command with its description, which is wrapped and never cut."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(limit=1000))
                    for name, command in commands
                    if command
                ]
            )

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - Click's signature.
        """Write the address of the docs."""
        formatter.write(f"\nHelp for a command: gradtool COMMAND --help\nDocs: {DOCS}/index.md\n")
