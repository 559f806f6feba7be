"""``python -m tests.engine.conformance [WORD...]``: compare entries whose name contains a word.

``--like REGEX`` picks entries by pattern, ``--all-samples`` shows every differing sample,
``--others`` compares the entries without a derivative instead, ``--json FILE`` keeps the result.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.engine.conformance import database
from tests.engine.conformance.run import check

NUMBER = re.compile(r"-?\d[\d.e+-]*j?")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.engine.conformance")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--like", default="")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--all-samples", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    chosen = database.others() if options.others else database.entries()
    results: dict[str, Any] = {}
    for name, entry in chosen.items():
        if options.words and not any(
            word == name if options.exact else word in name for word in options.words
        ):
            continue
        if options.like and not re.search(options.like, name):
            continue
        started = time.perf_counter()
        results[name] = found = check(entry)
        if not options.quiet:
            report(name, found, time.perf_counter() - started, options.all_samples)
    agree = sum(not any(each.values()) for each in results.values())
    print(f"{agree} of {len(results)} entries agree")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))


def report(name: str, found: dict[str, list[str]], seconds: float, everything: bool) -> None:
    if not any(found.values()):
        return
    print(f"{name} ({seconds:.1f} s)")
    for dtype, lines in found.items():
        if everything:
            print(*[f"    {dtype} {each}" for each in lines], sep="\n")
        else:
            kinds = Counter(NUMBER.sub("#", each.split(": ", 1)[1]) for each in lines)
            for kind, count in list(kinds.items())[:6]:
                print(f"    {dtype} x{count}: {kind[:170].strip()}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
