"""How many samples of each dtype PyTorch's table of ops was compared on, per entry and check.

A line is `entry<TAB>check number:dtype,dtype number:dtype …<TAB>check …`; `number/differing` where a listed
deviation shows. The tests of the table say that nothing differs. This says that it was compared at all.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor

from .store import read, write

NAME = "verdicts.txt.xz"


@functools.cache
def recorded() -> tuple[str, dict[tuple[str, str], dict[str, int]]]:
    """The version of PyTorch of the record, and per entry and check the comparisons per dtype."""
    version, *lines = read(NAME)
    found = {}
    for line in lines:
        title, *checks = line.split("\t")
        for text in checks:
            check, *groups = text.split()
            counts = found[title, check] = {}
            for number, _, dtypes in (group.partition(":") for group in groups):
                counts.update(dict.fromkeys(dtypes.split(","), int(number.partition("/")[0])))
    return version, found


def missing(title: str, check: str, made: Mapping[str, int]) -> dict[str, str]:
    """Per dtype how many comparisons were made, of how many recorded ones; only where they are fewer."""
    import torch

    version, table = recorded()
    if version != torch.__version__.partition("+")[0]:
        return {}  # another version has other samples
    expected = table.get((title, check), {})
    return {d: f"{made.get(d, 0)} of {n}" for d, n in expected.items() if made.get(d, 0) < n}


def verdict(given: tuple[str, str]) -> str:
    """What one check of one entry compared; an empty text for nothing."""
    from opinfo_checks import comparisons

    title, check = given
    made = comparisons(title, check)
    every = Counter(comparison.dtype for comparison in made)
    differing = Counter(comparison.dtype for comparison in made if comparison.difference)
    counts = {d: f"{n}/{differing[d]}" if differing[d] else str(n) for d, n in every.items()}
    return counts_of_dtypes(check, counts)


def counts_of_dtypes(check: str, counts: Mapping[str, str]) -> str:
    """Dtypes grouped by number; an empty text for none."""
    groups = defaultdict(list)
    for dtype, number in counts.items():
        groups[number].append(dtype)
    return " ".join([check, *(f"{n}:{','.join(dtypes)}" for n, dtypes in groups.items())]) if groups else ""


def make() -> None:
    """Run every check of every entry, which takes minutes, and write the record."""
    import torch
    from opinfo import entries
    from opinfo_checks import CHECKS

    tasks = [(title, check) for title in sorted(entries()) for check in CHECKS]
    with ProcessPoolExecutor(2) as pool:
        verdicts = list(pool.map(verdict, tasks, chunksize=4))
    lines: dict[str, list[str]] = {title: [title] for title, _ in tasks}
    for (title, _), text in zip(tasks, verdicts, strict=True):
        lines[title] += [text] if text else []
    write(NAME, [torch.__version__.partition("+")[0], *map("\t".join, lines.values())])
