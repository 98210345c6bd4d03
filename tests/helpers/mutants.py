"""Small faults put into the source one at a time, and whether the tests notice them:

    python tests/helpers/mutants.py [--count 60] [--seed 0] [--kind KIND] [--until STAGE] [--reached FILE]
                                    [PART ...]

PART is the beginning of a path, such as `minigrad/ops`. Each mutant lives in a copy of the tree. The tests
that reach what it changes run first, if `reached` has written to FILE which those are (there may be several);
then the quick ones, then those of the package, then all: STAGE is the last of these. The first test that
fails is printed, or SURVIVED.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import importlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from reached import tests_reaching

ROOT = Path(__file__).resolve().parents[2]
COMPARED: dict[type, str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
COMPUTED: dict[type, str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
IN_JAVASCRIPT = {" === ": " !== ", " && ": " || ", " < ": " <= ", " + 1": " - 1", " > ": " >= ", "!": ""}
SLOT = re.compile(r"\{\w+\}")
STAGES = ("reached", "quick", "package", "all")
SECONDS, TESTS, FIRST = 20, 40, 6  # of the tests that reach a place; so many are tried first
HEAVY = ("torch", "matplotlib.figure", "scipy.special", "IPython", "ipywidgets", "nbformat")
NO_TESTS = 5  # pytest found none
LONGEST = 3600  # seconds of a run; a mutant may wait forever


class Mutant(NamedTuple):
    """A fault: these bytes of a file are replaced."""

    kind: str
    path: str
    start: int
    end: int
    instead: bytes


def of_python(path: str, source: bytes) -> Iterator[Mutant]:
    """An operator swapped, a condition turned round, a branch removed, an axis off by one."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(node: ast.AST) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def between(kind: str, left: ast.AST, right: ast.AST, instead: str) -> Mutant:
        (_, start), (end, _) = place(left), place(right)
        closed, opened = (source[start:end].count(each) for each in (b")", b"("))
        return Mutant(kind, path, start, end, f"{')' * closed} {instead} {'(' * opened}".encode())

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
            yield between("comparison", node.left, node.comparators[0], COMPARED[type(node.ops[0])])
        elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
            yield between("operator", node.left, node.right, COMPUTED[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            yield between("condition", *node.values[:2], "or" if isinstance(node.op, ast.And) else "and")
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield Mutant("branch", path, *place(node.test), b"False")
        elif isinstance(node, ast.Constant) and type(node.value) is int and node.value in (-1, 0, 1):
            yield Mutant("number", path, *place(node), str(node.value + 1).encode())


def of_javascript(path: str, source: bytes) -> Iterator[Mutant]:
    """An operator swapped."""
    for old, new in IN_JAVASCRIPT.items():
        for found in re.finditer(re.escape(old).encode() + (rb"(?=[a-z(])" if old == "!" else b""), source):
            yield Mutant("JavaScript", path, *found.span(), new.encode())


def of_texts(path: str, source: bytes) -> Iterator[Mutant]:
    """Two slots of a sentence exchanged."""
    at = 0
    for line in source.decode().splitlines(keepends=True):
        slots = list(dict.fromkeys(SLOT.findall(line)))
        if len(slots) > 1 and not line.startswith("#"):
            swap = {slots[0]: slots[1], slots[1]: slots[0]}
            swapped = SLOT.sub(lambda found, swap=swap: swap.get(found[0], found[0]), line)
            yield Mutant("slot", path, at, at + len(line.encode()), swapped.encode())
        at += len(line.encode())


def mutants(parts: list[str], kind: str | None) -> list[Mutant]:
    """Return all mutants of the files whose paths begin so."""
    found: list[Mutant] = []
    for pattern, make in (("py", of_python), ("js", of_javascript), ("txt", of_texts)):
        for package in ("minigrad", "minigrad_viz"):
            for file in sorted((ROOT / package).rglob(f"*.{pattern}")):
                path = file.relative_to(ROOT).as_posix()
                if path.startswith(tuple(parts)) and "/tables/" not in path:
                    found += make(path, file.read_bytes())
    return [mutant for mutant in found if kind in (None, mutant.kind)]


def chosen(found: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return so many of them, as many of each kind."""
    kinds = defaultdict(list)
    for mutant in found:
        kinds[mutant.kind].append(mutant)
    turns = [random.Random(seed).sample(kinds[kind], min(len(kinds[kind]), count)) for kind in sorted(kinds)]
    return [turn[i] for i in range(count) for turn in turns if i < len(turn)][:count]


def place_of(mutant: Mutant, source: bytes) -> str:
    """Return what `reached` calls the changed place: the innermost function or the key of a text; of what
    stands in no function, the file.
    """
    if mutant.path.endswith(".txt"):
        key, *_ = source[mutant.start : mutant.end].decode().strip().partition(": ")
        if source[mutant.start : mutant.end].startswith(b"  "):
            key = re.findall(rb"^(\w+): ", source[: mutant.start], re.M)[-1].decode() + ".fix"
        return f"{Path(mutant.path).parent.name}:{key}"
    line = source[: mutant.start].count(b"\n") + 1
    around = [
        min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node.lineno <= line <= node.end_lineno
    ]
    return f"{mutant.path}:{max(around)}" if around else mutant.path


def tests_of(mutant: Mutant, source: bytes, reached: dict[str, list[tuple[float, str]]]) -> list[str]:
    """Return tests that reach the changed place, the fastest of each file first."""
    if mutant.kind == "JavaScript":
        words = {*Path(mutant.path).stem.split("_"), "playing"}
        pages = sorted((ROOT / "tests/browser").glob("test_*.py"))
        smoke = {file: text for file in pages if "mark.smoke" in (text := file.read_text())}
        found = sorted(
            smoke,
            key=lambda file: ("lab_" in f"{file.stem}_{smoke[file]}", words.isdisjoint(file.stem.split("_"))),
        )
        first = [ROOT / "tests/viewer/test_player_node.py", ROOT / "tests/browser/test_player_modules.py"]
        return [file.relative_to(ROOT).as_posix() for file in dict.fromkeys([*first, *found])]
    place = place_of(mutant, source)
    tests = reached.get(place) or sorted(
        test for each, known in reached.items() if each.startswith(f"{place}:") for test in known
    )
    turns = defaultdict(int)
    ordered = []
    for seconds, test in tests:
        file = test.partition("::")[0]
        ordered.append((turns[file], seconds, test))
        turns[file] += 1
    spent, found = 0.0, []
    for _, seconds, test in sorted(dict.fromkeys(ordered)):
        if test not in found and (spent + seconds < SECONDS or not found) and len(found) < TESTS:
            spent, found = spent + seconds, [*found, test]
    return found


def failing_test(tree: Path, stages: list[list[str]]) -> str | None:
    """Return the first test that fails in a tree and not without the mutant; None if none does."""
    for arguments in stages:
        apart: list[str] = []
        while True:
            ended, said = run_tests(tree, [*arguments, *apart])
            if ended == -signal.SIGALRM:
                return "no end"
            if ended in (0, NO_TESTS):
                break
            named = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", said, re.M)
            if not named or not fails_anyway(named[0]):
                return named[0] if named else f"pytest ends with {ended}: {said[-2000:]}"
            apart.append(f"--deselect={named[0]}")
    return None


@functools.cache
def fails_anyway(test: str) -> bool:
    """Return whether a test fails in the source as it is."""
    return run_tests(ROOT, [test, "-n", "0"])[0] != 0


def run_tests(tree: Path, arguments: list[str]) -> tuple[int, str]:
    """Run pytest in a copy of this process, which has the libraries that take longest to import; return how
    it ends and what it prints.
    """
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            ended = 1
            try:
                signal.alarm(LONGEST)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                os.chdir(tree)
                os.environ["PYTHONPATH"] = str(tree)  # children of the tests as well see the mutant
                sys.path.insert(0, str(tree))
                ended = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *arguments])
            except BaseException:
                traceback.print_exc()
            finally:  # nothing of the process that was copied is cleaned up here
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(ended)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return os.waitstatus_to_exitcode(status), output.read().decode(errors="replace")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["minigrad"])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind")
    parser.add_argument("--until", choices=STAGES, default=STAGES[-1])
    parser.add_argument("--reached", type=Path, action="append", default=[])
    given = parser.parse_args()
    caught = 0
    reached = tests_reaching(given.reached)
    found = chosen(mutants(given.parts, given.kind), given.count, given.seed)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__"))
        for mutant in found:
            file, source = tree / mutant.path, (ROOT / mutant.path).read_bytes()
            file.write_bytes(source[: mutant.start] + mutant.instead + source[mutant.end :])
            package = "engine" if mutant.path.startswith("minigrad/") else "viewer"
            tests = tests_of(mutant, source, reached)
            stages = [tests[:FIRST], tests[FIRST:], ["-m", "quick"], [f"tests/{package}"], ["tests"]]
            test = failing_test(tree, [each for each in stages[: STAGES.index(given.until) + 2] if each])
            file.write_bytes(source)
            caught += test is not None
            line = source[: mutant.start].count(b"\n") + 1
            was = " ".join(source[mutant.start : mutant.end].decode().split())
            now = " ".join(mutant.instead.decode().split())
            print(f"{mutant.path}:{line}  {mutant.kind}: {was!r} → {now!r}: {test or 'SURVIVED'}", flush=True)
    print(f"{caught} of {len(found)} are noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
