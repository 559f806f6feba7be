"""The published schema is the one that the types say."""

from __future__ import annotations

import json

from gradtool.report.transfer.document import generated_schema, published_schema
from gradtool.results.transfer import SCHEMA_VERSION


def test_the_published_schema_is_the_generated_one() -> None:
    assert published_schema() == generated_schema()
    assert f"version {SCHEMA_VERSION}" in json.loads(published_schema())["title"]
