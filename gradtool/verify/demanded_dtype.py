"""Messages that refuse tensors in float64, in which gradients are compared."""

from __future__ import annotations

import re

_SINGLE = re.compile(
    r"same dtype.*"
    r"(double != float|float != double|Double and Float|float64.*float32|float32.*float64)"
    r"|(must be|expected|requires?|only supports?) (\w+ ){0,3}(torch\.)?(float32|fp32)\b",
    re.IGNORECASE,
)


def asks_for_single(message: str) -> bool:
    """Return True for a message that asks for float32."""
    return bool(_SINGLE.search(message))
