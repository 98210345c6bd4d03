"""Write the record: `python tests/record/make.py [part …]` writes some parts, or all of them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "helpers")]  # run as a script, its own folder is there instead

PARTS = ("signatures", "nodes", "errors", "versions", "verdicts")


def main(arguments: list[str]) -> int:
    for part in arguments or PARTS:
        importlib.import_module(f"record.{part}").make()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
