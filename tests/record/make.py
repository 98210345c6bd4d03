"""Write the record: `python tests/record/make.py [part …]` writes some parts, or all of them.

`--missing [file]` prints the recorded tests that pytest no longer collects and that `removed.txt` does not
explain. It exits with 1 if there are any. The file contains the output of `pytest --collect-only -q --full`,
and `-` means standard input. Without a file, the script runs pytest itself.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, its own folder is there instead

PARTS = ("signatures", "nodes", "errors", "versions", "ids", "verdicts")


def missing(given: list[str]) -> int:
    """The exit status: 1 if tests are missing without an explanation."""
    from record import ids

    if not given:
        output = ids.collected()
    else:
        output = sys.stdin.read() if given[0] == "-" else Path(given[0]).read_text(encoding="utf-8")
    return int(ids.report(output) > 0)


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--missing"]:
        return missing(arguments[1:])
    for part in arguments or PARTS:
        importlib.import_module(f"record.{part}").make()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
