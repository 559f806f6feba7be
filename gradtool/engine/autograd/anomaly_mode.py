"""Finding the forward operation whose gradient fails or is NaN."""

from __future__ import annotations

import warnings

from gradtool.engine._modes import modes
from gradtool.engine.autograd import _new_nodes

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly:
    """Turn anomaly mode on or off, from here on or for a block.

    In it a gradient that is NaN raises a RuntimeError, and an error in the backward walk is
    preceded by a warning with the traceback of the forward operation.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self._before = (modes.anomaly, modes.check_nan)
        modes.anomaly, modes.check_nan = bool(mode), check_nan
        _new_nodes.update()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        modes.anomaly, modes.check_nan = self._before
        _new_nodes.update()


def is_anomaly_enabled() -> bool:
    """Return True in anomaly mode."""
    return modes.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Return True if gradients that are NaN are errors in anomaly mode."""
    return modes.check_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off, from here on."""
    set_detect_anomaly(enabled, check_nan)


class detect_anomaly:
    """Anomaly mode for a block; see `set_detect_anomaly`."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._mode = set_detect_anomaly(True, self.check_nan)

    def __exit__(self, *exc_info: object) -> None:
        self._mode.__exit__(*exc_info)
