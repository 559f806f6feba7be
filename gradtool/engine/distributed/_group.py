"""The process group, which has one process and is initialized from the start."""

from __future__ import annotations

from typing import Any, ClassVar

GROUP_NAME = "0"
"""What torch calls its first group."""


class ProcessGroup:
    """A group of processes: this one."""

    group_name: ClassVar[str] = GROUP_NAME

    def rank(self) -> int:
        """Return the rank of this process, 0."""
        return 0

    def size(self) -> int:
        """Return the number of processes, 1."""
        return 1

    def __repr__(self) -> str:
        return "a group of one process"


_WORLD = ProcessGroup()


class group:
    """The default group, as ``group.WORLD``."""

    WORLD: ClassVar[ProcessGroup] = _WORLD


class GroupMember:
    """The default group, and the mark of a process outside a group."""

    WORLD: ClassVar[ProcessGroup] = _WORLD
    NON_GROUP_MEMBER: ClassVar[int] = -100


def is_available() -> bool:
    """Return True: there is a group of one process."""
    return True


def is_initialized() -> bool:
    """Return True: there is a group of one process."""
    return True


def is_gloo_available() -> bool:
    """Return False, as for every backend that connects processes."""
    return False


is_mpi_available = is_nccl_available = is_torchelastic_launched = is_gloo_available


def init_process_group(*args: Any, **kwargs: Any) -> None:
    """Do nothing: the group is there."""


def destroy_process_group(group: Any = None) -> None:
    """Do nothing: the group stays."""


def new_group(*args: Any, **kwargs: Any) -> ProcessGroup:
    """Return a group of this process."""
    return ProcessGroup()


def get_rank(group: Any = None) -> int:
    """Return the rank of this process, 0."""
    return 0


def get_world_size(group: Any = None) -> int:
    """Return the number of processes, 1."""
    return 1


def get_backend(group: Any = None) -> str:
    """Return the name of the backend that PyTorch uses for tensors in host memory."""
    return "gloo"


def get_global_rank(group: Any, group_rank: int) -> int:
    """Return the rank among all processes."""
    return group_rank


def get_group_rank(group: Any, global_rank: int) -> int:
    """Return the rank in a group."""
    return global_rank


def get_process_group_ranks(group: Any = None) -> list[int]:
    """Return the ranks of a group."""
    return [0]
