"""The files of the record: lines of text, packed where the name ends in `.xz`."""

from __future__ import annotations

import lzma
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import minigrad

FOLDER = Path(__file__).parent
LEFT_OUT = Path(minigrad.__file__).parent / "tables" / "left_out.txt"


def read(name: str) -> list[str]:
    """The lines of a file of the record."""
    data = (FOLDER / name).read_bytes()
    return (lzma.decompress(data) if name.endswith(".xz") else data).decode().splitlines()


def write(name: str, lines: Iterable[str]) -> None:
    """Write a file of the record: the same bytes for the same lines."""
    data = "".join(f"{line}\n" for line in lines).encode()
    (FOLDER / name).write_bytes(
        lzma.compress(data, preset=9 | lzma.PRESET_EXTREME) if name.endswith(".xz") else data
    )


def left_out(path: Path = LEFT_OUT) -> dict[str, set[str]]:
    """Per namespace the names that were left out, from lines `namespace: word word …`."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        namespace, colon, words = line.partition("#")[0].partition(":")
        if colon:
            found[namespace.strip()].update(words.split())
    return found


def is_argument_left_out(end: str) -> bool:
    """Whether a call ended with the error for an argument that is listed as left out."""
    found = re.fullmatch(
        r"NotImplementedError: (?:minigrad|LIBRARY)'s (\w+) has no .* \(see docs/ops.md\)", end
    )
    listed = [line for line in LEFT_OUT.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]
    return found is not None and any(re.search(rf"\.{found[1]}_?[,:]", line) for line in listed)


def is_left_out(namespace: str, name: str) -> bool:
    """Whether a name of a namespace, or something it is an attribute of, is listed as left out."""
    listed = left_out()
    whole = f"{namespace}.{name}".split(".")
    cuts = [("torch", whole[0]), *((".".join(whole[:i]), whole[i]) for i in range(1, len(whole)))]
    return any(word in listed.get(space, ()) for space, word in cuts)
