"""Help at the width of a terminal, and completion of values in a shell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradtool.cli.app import COMMANDS, main
from gradtool.cli.completion import functions_in, nodes, reports, rules
from gradtool.package import DOCS
from gradtool.verify.rules import NAMES, RULES, codes

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_an_example_and_the_address_of_an_existing_page(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, command, "--help")
    page = text.rpartition(f"Docs: {DOCS}/")[2].strip()
    assert (ROOT / "docs" / page).is_file()
    assert f"\n  gradtool {command}" in text.partition("Example")[2]
    assert max(map(len, text.splitlines())) <= 80


def test_descriptions_of_commands_are_whole_even_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    text = printed(capsys, "--help")
    assert "..." not in text.partition("Commands:")[2]
    assert " ".join(text.split()).count("the arguments of its Functions as cases.") == 1


def test_the_options_of_check_are_in_sections(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "check", "--help")
    titles = ["What to check:", "How to check:", "Reports:", "Adoption:", "Execution:"]
    assert [line for line in text.splitlines() if line in titles] == titles
    assert text.partition("\nOptions:\n")[2].split("\n\n")[0].split()[0] == "-h,"


def test_without_arguments_the_first_steps_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    out = capsys.readouterr().out
    assert out.index("gradtool check my_ops.py") < out.index("Commands:")


def test_rules_complete_by_code_and_by_name() -> None:
    assert ("GT101", "wrong-gradient") in rules("GT1")
    assert rules("gt101") == [("GT101", "wrong-gradient")]
    assert ("wrong-gradient-shape", "GT103") in rules("wrong-g")
    assert ("GT2,GT101", "wrong-gradient") in rules("GT2,GT1")
    assert rules("unheard-of") == []


def test_names_of_rules_are_those_of_the_rules() -> None:
    assert {code: rule.name for code, rule in RULES.items()} == NAMES


def test_rules_are_selected_by_name() -> None:
    assert codes.matching(["wrong-gradient"]) == {"GT101"}
    assert codes.problem_with("wrong-gradiant") == (
        "unknown rule 'wrong-gradiant' (did you mean 'wrong-gradient'?)"
    )


def test_formats_complete_and_their_paths_are_left_to_the_shell() -> None:
    assert reports("s") == [("sarif=", "")]
    assert reports("json=o") == []


MODULE = """
from torch.autograd import Function
import torch

class Cube(Function): ...
class Plain:
    class Inner(torch.autograd.Function): ...
"""


def test_functions_of_a_file_are_found_without_importing_it(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(MODULE)
    assert functions_in(tmp_path / "ops.py") == ["Cube", "Plain.Inner"]
    (tmp_path / "broken.py").write_text("def")
    assert functions_in(tmp_path / "broken.py") == []
    assert functions_in(tmp_path / "missing.py") == []


def completed(shell: str, **variables: str) -> str:
    """The answer of the program to a shell."""
    environment = {**os.environ, "_GRADTOOL_COMPLETE": f"complete_{shell}", **variables}
    done = subprocess.run(
        [sys.executable, "-m", "gradtool"], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_node_ids_complete_in_each_shell(tmp_path: Path) -> None:
    path = tmp_path / "ops.py"
    path.write_text(MODULE)
    line = f"gradtool check {path}::C"
    fish = {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_ARGS": line}
    assert "::Cube" in completed("fish", **fish)
    assert r"\\:\\:Cube" in completed("zsh", _TYPER_COMPLETE_ARGS=line)
    # Bash splits words at colons.
    words = f"gradtool\ncheck\n{path}\n::"
    assert completed("bash", COMP_WORDS=words, COMP_CWORD="3").split() == ["Cube", "Plain.Inner"]
    assert completed("bash", COMP_WORDS=f"{words}\nCu", COMP_CWORD="4").split() == ["Cube"]


def test_a_word_without_colons_is_left_to_the_shell() -> None:
    class Context:
        params = {"paths": []}  # noqa: RUF012 - As Click's context has it.
        args: list[str] = []  # noqa: RUF012

    assert nodes(Context(), "ops.py") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_of_the_shells_are_shown(shell: str) -> None:
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "gradtool", "--show-completion", shell],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0
    assert f"complete_{shell}" in done.stdout
