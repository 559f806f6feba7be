"""YAML that a page shows: held against what reads it, and searched for commands to run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from gradtool.config.files import FILE_NAME, load_config
from tests.docs.blocks import Block

ROOT = Path(__file__).resolve().parents[2]
OURS = ("gradtool", "pytest", "python", "mkdir")
"""Programs that a test can run as they stand; others install things."""


def refuse_mistakes_of(block: Block, folder: Path) -> None:
    """Hold the content of a file against the reader of files of its name.

    Raises:
        AssertionError: Nothing is known to read it, or something in it is wrong.
    """
    for name in block.files:
        if Path(name).name == FILE_NAME or name.startswith("configs/"):
            load_config(folder / name)
        elif name.startswith(".github/workflows/"):
            _refuse_workflow(yaml.safe_load(block.text), block.place)
        elif name == ".gitlab-ci.yml":
            _refuse_pipeline(yaml.safe_load(block.text), block.place)
        elif name == ".pre-commit-config.yaml":
            _refuse_hooks(yaml.safe_load(block.text), block.place)
        else:
            raise AssertionError(f"{block.place}: nothing is known to read {name}")
    assert block.files, f"{block.place}: name the file that this is the content of"


def commands_of(block: Block) -> Iterator[str]:
    """The commands of a workflow or pipeline that can be run as they stand."""
    content = yaml.safe_load(block.text)
    matrix = next(_values(content, ("matrix",)), {})
    for value in _values(content, ("run", "script")):
        for line in value if isinstance(value, list) else str(value).splitlines():
            if line.split()[0] in OURS:
                yield from _filled(line, matrix)


def _filled(command: str, matrix: dict[str, list[str]]) -> Iterator[str]:
    """The command of each job of a matrix; as it stands where it names none of its keys."""
    named = [key for key in matrix if f"${{{{ matrix.{key} }}}}" in command]
    for values in product(*(matrix[key] for key in named)):
        line = command
        for key, value in zip(named, values, strict=True):
            line = line.replace(f"${{{{ matrix.{key} }}}}", value)
        yield line


def _refuse_workflow(workflow: Any, place: str) -> None:
    # YAML 1.1 reads the key `on` as true.
    assert {"name", True, "jobs"} <= workflow.keys(), place
    known = _action()["inputs"]
    for job in workflow["jobs"].values():
        assert "runs-on" in job, place
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), f"{place}: {step}"
            if "gradtool" in step.get("uses", ""):
                unknown = step.get("with", {}).keys() - known.keys()
                assert not unknown, f"{place}: the action has no inputs {unknown}"


def _refuse_pipeline(pipeline: Any, place: str) -> None:
    for name, job in pipeline.items():
        assert job["script"], f"{place}: {name}"
        assert all(isinstance(line, str) for line in job["script"]), f"{place}: {name}"


def _refuse_hooks(config: Any, place: str) -> None:
    known = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    for repository in config["repos"]:
        ids = {hook["id"] for hook in repository["hooks"]}
        assert "gradtool" not in repository["repo"] or ids <= known, f"{place}: {ids}"


def _action() -> Any:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def _values(node: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """What stands under `keys`, at whatever depth."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in keys:
                yield value
            else:
                yield from _values(value, keys)
    elif isinstance(node, list):
        for item in node:
            yield from _values(item, keys)
