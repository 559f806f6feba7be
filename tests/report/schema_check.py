"""The schema of the JSON report in its strict form, and every report of a test held against it."""

from __future__ import annotations

import json as stdlib
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest

from gradtool.report import json
from gradtool.report.document import generated_schema
from gradtool.results import Report


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


def checked(render: Callable[[Report], str]) -> Callable[[Report], str]:
    """`render`, refusing to return what the schema does not allow."""
    schema = validator(generated_schema())

    def checking(report: Report) -> str:
        text = render(report)
        schema.validate(stdlib.loads(text))
        return text

    return checking


@pytest.fixture(scope="session", autouse=True)
def reports_obey_their_schema() -> Iterator[None]:
    """Hold every JSON report that a test writes in its own process against the schema."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json, "render", checked(json.render))
        yield
