"""Available memory: the machine's, or the rest of a control group's limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.device.host_memory import host_memory

GB = 10**9


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return root


MACHINE = {"proc/meminfo": "MemTotal: 16000000 kB\nMemFree: 1 kB\nMemAvailable: 8000000 kB"}
WHOLE = 16_000_000 << 10
LEFT = 8_000_000 << 10


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, (LEFT, WHOLE)),
        ({"proc/self/cgroup": "0::/a/b"}, (LEFT, WHOLE)),
        (
            {
                "proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/memory.max": "max",
                "sys/fs/cgroup/a/memory.max": str(4 * GB),
                "sys/fs/cgroup/a/memory.current": str(3 * GB),
                "sys/fs/cgroup/a/memory.stat": f"anon 5\ninactive_file {GB}",
            },
            (2 * GB, 4 * GB),
        ),
        (
            {  # a container that sees its group as the topmost one
                "proc/self/cgroup": "0::/../elsewhere", "sys/fs/cgroup/memory.max": str(2 * GB),
                "sys/fs/cgroup/memory.current": str(3 * GB),
            },
            (0, 2 * GB),
        ),
        (
            {
                "proc/self/cgroup": "8:pids:/\n4:memory:/x\n0::/",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": str(9223372036854771712),
                "sys/fs/cgroup/memory/x/memory.limit_in_bytes": str(GB),
                "sys/fs/cgroup/memory/x/memory.usage_in_bytes": str(GB // 4),
            },
            (GB - GB // 4, GB),
        ),
    ],
)  # fmt: skip
def test_the_least_of_all_limits_counts(
    tmp_path: Path, files: dict[str, str], expected: tuple[int, int]
) -> None:
    assert host_memory(write(tmp_path, MACHINE | files)) == expected


def test_without_such_files_the_system_is_asked(tmp_path: Path) -> None:
    available, total = host_memory(tmp_path)
    assert 0 <= available <= total
