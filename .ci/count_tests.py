"""Print how many tests of a JUnit report passed and failed, as two numbers.

A run in which nothing ran, because every test was skipped or none was selected, is an
error: it would look like success. Usage: ``python3 .ci/count_tests.py REPORT``. With
``--failures REPORT...`` it prints how each failed test ended instead.
"""

import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

LINES = 40
"""Last lines of a failed test's report that are repeated."""


def count_tests(report: Path) -> tuple[int, int]:
    """Numbers of tests that passed and that failed.

    Raises:
        SystemExit: The report is missing, or no test ran.
    """
    if not report.exists():
        raise SystemExit(f"{report.name} was not written: the tests did not run to their end")
    total = bad = skipped = 0
    for suite in ET.parse(report).getroot().iter("testsuite"):
        total += int(suite.get("tests", 0))
        bad += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    if total == skipped:
        raise SystemExit(f"no test ran ({skipped} skipped)")
    return total - bad - skipped, bad


def failures(report: Path) -> Iterator[str]:
    """The end of the report on each failed test; nothing where no report was written."""
    if not report.exists():
        return
    for test in ET.parse(report).getroot().iter("testcase"):
        for outcome in (*test.iter("failure"), *test.iter("error")):
            lines = (outcome.text or "").splitlines()[-LINES:]
            yield "\n".join([f"-- {test.get('classname')}::{test.get('name')}", *lines, ""])


if __name__ == "__main__":
    if sys.argv[1] == "--failures":
        for name in sys.argv[2:]:
            print(*failures(Path(name)), sep="\n", end="")
    else:
        print(*count_tests(Path(sys.argv[1])))
