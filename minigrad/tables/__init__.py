"""What is data and not code, one text file a table. Tests compare each with PyTorch.

`signatures.txt` has the parameters that PyTorch's functions and methods take. `dtypes.txt` has the dtypes
that PyTorch's kernels refuse, and the words in which they do. `left_out.txt` has the names that minigrad left
out.
"""

from __future__ import annotations

import os


def lines(name: str) -> list[str]:
    """Return the lines of a table."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read().splitlines()
