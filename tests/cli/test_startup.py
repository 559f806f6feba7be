"""What the command imports before it has work to do, seen from a fresh interpreter."""

import subprocess
import sys
from pathlib import Path

import pytest

import gradtool

_SOURCE = Path(gradtool.__file__).parents[1]

_PROBE = """
import sys
sys.path.insert(0, {source!r})
from gradtool.cli.main import main
sys.argv[1:] = {arguments!r}
code = main()
{extra}
loaded = sorted({{name.partition(".")[0] for name in sys.modules}} & {watched!r})
print("code", code, "loaded", *loaded, file=sys.stderr)
"""


def imported(arguments: list[str], watched: set[str], extra: str = "") -> tuple[str, list[str]]:
    """Standard output of the command, and which of the watched packages it imported."""
    script = _PROBE.format(source=str(_SOURCE), arguments=arguments, watched=watched, extra=extra)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    words = done.stderr.split()
    assert words[:3] == ["code", "0", "loaded"], done.stderr
    return done.stdout, words[3:]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["check", "--help"]])
def test_help_and_version_import_neither_numpy_nor_rich(arguments: list[str]) -> None:
    out, loaded = imported(arguments, {"numpy", "rich", "cupy", "yaml"})
    assert out
    assert loaded == []


def test_the_process_that_reports_computes_nothing(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(
        "from gradtool import Function\n\n\nclass Double(Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return 2 * x\n\n"
        "    @staticmethod\n    def backward(ctx, grad_output):\n        return 2 * grad_output\n"
    )
    out, loaded = imported(["check", str(tmp_path / "ops.py"), "-q"], {"numpy", "cupy"})
    assert "1 passed" in out
    assert loaded == []


def test_the_test_above_can_fail() -> None:
    _, loaded = imported(["--version"], {"numpy"}, extra="import numpy")
    assert loaded == ["numpy"]


def test_a_command_loads_no_other() -> None:
    others = "[name for name in sys.modules if name.startswith('gradtool.cli.commands.')]"
    imported(["schema", "report"], set(), extra=f"assert len({others}) == 1, {others}")


def test_version_prints_the_version() -> None:
    out, _ = imported(["--version"], {"numpy"})
    assert out == f"gradtool {gradtool.__version__}\n"


def test_without_arguments_the_help_is_printed_and_nothing_passes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gradtool"], capture_output=True, text=True, cwd=_SOURCE
    )
    assert done.returncode == 2
    assert done.stdout.startswith("Usage: gradtool ")
    assert done.stderr == ""
