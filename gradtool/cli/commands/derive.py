"""``gradtool derive``: write a correct backward for a Function and check it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from gradtool.cli.exit_codes import ExitCode
from gradtool.cli.options import declared as cli
from gradtool.cli.options.groups import configured
from gradtool.config.resources import DTYPES

if TYPE_CHECKING:
    from gradtool.config.options import CheckOptions
    from gradtool.run.derive_runner import Answer


def derive(
    context: typer.Context,
    paths: cli.Paths,
    config: cli.Config = None,
    isolated: cli.Isolated = False,
    jvp: Annotated[bool, typer.Option("--jvp", help="Also write a jvp for forward mode.")] = False,
    vmap: Annotated[bool, typer.Option("--vmap", help="Also support torch.vmap.")] = False,
    seed: cli.Seed = None,
    dtype: cli.Dtype = None,
) -> Callable[[], ExitCode]:
    """Print a correct backward for each Function without changing any files."""
    from gradtool.cli.options.choices import choose
    from gradtool.config.options import (
        CheckOptions,
        ExecutionOptions,
        NumericOptions,
        SelectionOptions,
    )

    options = CheckOptions(
        config=configured(config, isolated),
        selection=SelectionOptions(paths=tuple(paths)),
        numeric=NumericOptions(
            seed=seed, dtype=dtype and choose(dtype, DTYPES, "value of --dtype:")
        ),
        execution=ExecutionOptions(isolation=False),
        command=context.obj,
    )
    return partial(_derive, options, jvp, vmap)


def _derive(options: CheckOptions, jvp: bool, vmap: bool) -> ExitCode:
    from contextlib import redirect_stdout

    from gradtool.cli.output.streams import reader_may_leave
    from gradtool.run.derive_runner import derive

    with redirect_stdout(sys.stderr):
        answers = derive(options, jvp=jvp, vmap=vmap)
    with reader_may_leave(sys.stdout):
        sys.stdout.write("\n\n".join(_shown(each) for each in answers if each.text))
    for each in answers:
        if each.problem:
            print(f"{each.node}: {each.problem}", file=sys.stderr)
    if not answers:
        return ExitCode.NOTHING_CHECKED
    return ExitCode.FAILED if any(each.problem for each in answers) else ExitCode.PASSED


def _shown(answer: Answer) -> str:
    noun = "case" if len(answer.cases) == 1 else "cases"
    limits = "".join(f"wrong where {each}, but " for each in answer.limits)
    lines = [f"# {answer.node}: {limits}passes gradtool check for {noun}"]
    lines += [f"#   {name}: {', '.join(arguments)}" for name, arguments in answer.cases]
    if len(answer.cases) == 1:
        lines = [f"{lines[0]} {lines[1].removeprefix('#   ')}"]
    lines += [
        f"# The loop on line {line} is unrolled into {steps} steps."
        for line, steps in answer.unrolled
    ]
    if _is_flat(answer.text):
        lines.append(_FLAT)
    return "\n".join([*lines, answer.text])


_FLAT = (
    "# The derivative of forward is zero everywhere: if your backward is a surrogate, keep it "
    "(GT120)."
)


def _is_flat(text: str) -> bool:
    """Return True if every gradient that the class returns is zero."""
    import ast
    from textwrap import dedent

    returned = [
        value
        for method in ast.walk(ast.parse(dedent(text)))
        if isinstance(method, ast.FunctionDef) and method.name in ("backward", "vjp")
        for node in ast.walk(method)
        if isinstance(node, ast.Return) and node.value is not None
        for value in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])
    ]
    gradients = [text for text in map(ast.unparse, returned) if text != "None"]
    return bool(gradients) and all(each.startswith("torch.zeros_like(") for each in gradients)
