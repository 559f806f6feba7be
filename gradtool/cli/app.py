"""The ``gradtool`` program: it parses the arguments and runs the command."""

from __future__ import annotations

import importlib
import io
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from typing import Annotated, Any, cast

import typer

from gradtool.cli.completion import after_colons
from gradtool.cli.errors import guarded, refuse
from gradtool.cli.exit_codes import ExitCode
from gradtool.cli.help import CommandHelp, ProgramHelp
from gradtool.cli.output import streams
from gradtool.package import __version__

# Click's own class, which Typer brings along under different names in different versions.
_ParseError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
_COMPLETION = "_GRADTOOL_COMPLETE"
"""The variable by which a shell asks for completions."""

COMMANDS = (
    "check",
    "config",
    "derive",
    "doctor",
    "explain",
    "init",
    "merge",
    "profile",
    "profile-transfer",
    "record",
    "run",
    "schema",
)
"""Each is a function in a module of its name."""


def program(commands: Iterable[str] = COMMANDS) -> typer.Typer:
    """The program with some of its commands, since it takes a while to declare them all."""
    app = typer.Typer(
        name="gradtool",
        help="Check hand-written gradients before they merge.",
        cls=ProgramHelp,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for command in commands:
        name = command.replace("-", "_")
        module = importlib.import_module(f"gradtool.cli.commands.{name}")
        settings = getattr(module, "SETTINGS", None)
        app.command(cls=CommandHelp, context_settings=settings)(getattr(module, name))
    return app


def _print_version(is_given: bool) -> None:
    if is_given:
        print(f"gradtool {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; never raises.

    Args:
        argv: Arguments without the name of the program; by default those of the process.
    """
    streams.prepare()
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = shlex.join(["gradtool", *arguments])
    return guarded(
        lambda: _dispatch(arguments, command), command=command, verbose=_verbose(arguments)
    )


def _dispatch(arguments: list[str], command: str) -> ExitCode:
    """Let Typer parse, then do the work that it returns.

    Typer would turn a keyboard interrupt or a broken pipe into exit codes of its own.
    """
    if not arguments and _COMPLETION not in os.environ:
        # Nothing was checked, and a script with an empty variable must not take that for a pass.
        _parse(["--help"], command)
        return ExitCode.USAGE
    if any("\0" in argument for argument in arguments):
        return refuse("an argument contains a null byte")
    if len(arguments) > 1 and arguments[0] in _OF_COMPLETION and arguments[1] not in _SHELLS:
        # Typer would ignore it.
        why = f"unexpected value {arguments[1]!r}; it applies to the shell that you run it from"
        return refuse(f"{arguments[0]}: {why}")
    try:
        work = _parse(arguments, command)
    except _ParseError as error:
        return refuse(_problem(error.format_message(), arguments))
    return work() if callable(work) else ExitCode(work or 0)


_OF_COMPLETION = ("--install-completion", "--show-completion")

_SHELLS = ("bash", "zsh", "fish")


def _problem(message: str, arguments: list[str]) -> str:
    """Say what is wrong with a command line; for a missing path, what to add."""
    if message.startswith("Missing argument 'PATH...'"):
        example = f"gradtool {arguments[0]} ."
        return f"name a file or a folder, such as the current one: {example}"
    return message


def _parse(arguments: list[str], command: str) -> Any:
    """Return what Typer returns, and write the help or version that it prints.

    Click would end the process where the reader of what it prints has left.
    """
    # Parsing only: the work runs later, outside this block, and prints for itself.
    with redirect_stdout(io.StringIO()) as printed:
        try:
            work = program(_wanted(arguments))(
                arguments, prog_name="gradtool", standalone_mode=False, obj=command
            )
        except SystemExit as end:  # Completion, for which Typer ends the process.
            work = int(end.code or 0)
    text = printed.getvalue()
    if os.environ.get(_COMPLETION) == "complete_bash":
        text = after_colons(text)
    with streams.reader_may_leave(sys.stdout):
        sys.stdout.write(text)
    return work


def _wanted(arguments: list[str]) -> Iterable[str]:
    """Return the command that the arguments name; where they name none, all for the help."""
    named = [name for name in arguments[:1] if name in COMMANDS]
    return COMMANDS if _COMPLETION in os.environ else named or COMMANDS


def _verbose(arguments: list[str]) -> bool:
    """Return True if ``-v`` is among the arguments, before they are parsed."""
    flags = (argument for argument in arguments if not argument.startswith("--"))
    return "--verbose" in arguments or any(f[:1] == "-" and "v" in f for f in flags)
