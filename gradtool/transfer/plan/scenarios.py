"""Every way of copying that can be measured: what ``--list`` shows and ``--scenario`` selects."""

from __future__ import annotations

from dataclasses import dataclass

from gradtool.results.transfer import Direction, Mode
from gradtool.transfer.measuring.operation import Route
from gradtool.transfer.routes.cold import cold
from gradtool.transfer.routes.direct import device_to_device, direct, duplex, synchronous
from gradtool.transfer.routes.engine import (
    pin_memory,
    pin_memory_then_to,
    tensor_to,
    torch_to,
)
from gradtool.transfer.routes.packing import packed, pinned_by_threads
from gradtool.transfer.routes.pin_on_the_fly import pin_on_the_fly
from gradtool.transfer.routes.staging import staged, staged_by_threads

BOTH: tuple[Direction, ...] = ("h2d", "d2h")
MODES: tuple[Mode, ...] = ("blocking", "non_blocking")

Ways = dict[Direction, tuple[Mode, ...]]
"""Directions of a scenario, with the modes of each."""

_EACH: Ways = {"h2d": MODES, "d2h": MODES}
_WAITS: Ways = {"h2d": ("blocking",), "d2h": ("blocking",)}
"""For a synchronous call."""

_WAITS_BACK: Ways = {"h2d": MODES, "d2h": ("blocking",)}
"""For routes whose last step towards the host is a copy by the host, so that they must wait."""


@dataclass(frozen=True)
class Scenario:
    """A way of copying."""

    name: str
    title: str
    """Name in tables."""
    title_on_host: str
    """Name where host memory stands in for the device."""
    about: str
    route: Route
    ways: Ways
    collections_only: bool = False
    """It is for many tensors; with a single tensor it is the same as another scenario."""
    single_only: bool = False
    """It copies one buffer only."""

    host_only: bool = False
    """Nothing goes to the device, so that the device's time is meaningless."""

    only_when_named: bool = False
    """A run without a device skips it unless a pattern names it: PyTorch takes seconds to import,
    and its times show little there."""

    def label(self, *, on_host: bool) -> str:
        """Its name in the tables of a run."""
        return self.title_on_host if on_host else self.title


_ALL = (
    Scenario("pageable-cold", "pageable, cold", "pageable, cold",
        "memory that no copy has used; copying back touches its pages",
        cold, _EACH, single_only=True),
    Scenario("pageable", "pageable", "pageable",
        "ordinary memory whose pages have been touched", direct("pageable"), _EACH),
    Scenario("pinned", "pinned", "mlock'ed",
        "memory that is page-locked when allocated", direct("pinned"), _EACH),
    Scenario("memcpy", "memcpy, pageable", "memcpy",
        "the runtime's blocking copy, from pageable memory",
        synchronous("pageable"), _WAITS),
    Scenario("memcpy-pinned", "memcpy, pinned", "memcpy, mlock'ed",
        "the same, from page-locked memory", synchronous("pinned"), _WAITS),
    Scenario("registered", "registered", "mlock'ed later",
        "ordinary memory, page-locked after its pages were touched", direct("registered"), _EACH),
    Scenario("write-combined", "write-combined", "write-combined",
        "page-locked memory that the processor does not cache", direct("write-combined"), _EACH),
    Scenario("pin-on-the-fly", "pin on the fly", "mlock on the fly",
        "page-locked memory, allocated for each copy and freed afterwards",
        pin_on_the_fly, _WAITS_BACK),
    Scenario("staged", "staged", "staged",
        "pageable memory, sent through two page-locked buffers in turn", staged, _WAITS_BACK,
        single_only=True),
    Scenario("staged-threads", "staged, threads", "staged, threads",
        "the same, with the host's copies split among threads", staged_by_threads, _WAITS_BACK,
        single_only=True),
    Scenario("packed", "packed", "packed",
        "many tensors gathered in one page-locked buffer, then one copy", packed, _WAITS_BACK,
        collections_only=True),
    Scenario("pin-threads", "pinned by threads", "copied by threads",
        "several threads gather in page-locked memory while one sends",
        pinned_by_threads, {"h2d": MODES}, collections_only=True),
    Scenario("device", "device to device", "other buffer",
        "within device memory, which moves every byte twice",
        device_to_device, {"d2d": MODES}, single_only=True),
    Scenario("duplex", "both directions", "both directions",
        "page-locked memory, both directions at once, each on its own stream; rates added",
        duplex, {"duplex": MODES}, single_only=True),
    Scenario("engine", "Tensor.to", "Tensor.to (copy)",
        "the engine's Tensor.to of a pageable tensor, including the "
"allocation", tensor_to("pageable"),
        _EACH),
    Scenario("engine-pinned", "pinned Tensor.to", "pinned Tensor.to",
        "the engine's Tensor.to of a pinned tensor", tensor_to("pinned"), {"h2d": MODES}),
    Scenario("torch", "PyTorch's .to", "PyTorch's .to (copy)",
        "PyTorch's Tensor.to of a pageable tensor, if PyTorch is installed", torch_to("pageable"),
        _EACH, only_when_named=True),
    Scenario("torch-pinned", "PyTorch's pinned .to", "PyTorch's pinned .to",
        "PyTorch's Tensor.to of a pinned tensor", torch_to("pinned"), {"h2d": MODES},
        only_when_named=True),
    Scenario("engine-pin", "pin_memory()", "pin_memory()",
        "the engine's Tensor.pin_memory alone", pin_memory, {"h2d": ("blocking",)},
        host_only=True),
    Scenario("engine-pin-to", "pin_memory().to", "pin_memory().to",
        "the engine's Tensor.pin_memory and then Tensor.to", pin_memory_then_to, {"h2d": MODES}),
)  # fmt: skip

SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in _ALL}
"""All scenarios by name, in the order in which they are shown."""
