"""The schemas of the JSON reports in their strict form, and every report of a test held to them."""

from __future__ import annotations

import json as stdlib
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest

from gradtool.report.formats import json, json_lines
from gradtool.results.report import Report

Render = Callable[[Report], str]


def strict(schema: Any) -> Any:
    """The schema with every unknown field forbidden; published, it leaves room for new ones."""
    if isinstance(schema, dict):
        closed = {key: strict(value) for key, value in schema.items()}
        return {**closed, "additionalProperties": False} if "properties" in closed else closed
    return [strict(entry) for entry in schema] if isinstance(schema, list) else schema


def validator(schema: str) -> jsonschema.Draft202012Validator:
    loaded = strict(stdlib.loads(schema))
    jsonschema.Draft202012Validator.check_schema(loaded)
    return jsonschema.Draft202012Validator(loaded)


def checked(render: Render, schema: str, split: Callable[[str], list[str]]) -> Render:
    """`render`, refusing to return what the schema does not allow of one of its documents."""
    held_to = validator(schema)

    def checking(report: Report) -> str:
        text = render(report)
        for part in split(text):
            held_to.validate(stdlib.loads(part))
        return text

    return checking


@pytest.fixture(scope="session", autouse=True)
def reports_obey_their_schema() -> Iterator[None]:
    """Hold every JSON report that a test writes in its own process against its schema."""
    with pytest.MonkeyPatch.context() as patch:
        for module, schema, split in (
            (json, json.generated_schema(), lambda text: [text]),
            (json_lines, json_lines.generated_schema(), str.splitlines),
        ):
            patch.setattr(module, "render", checked(module.render, schema, split))
        yield
