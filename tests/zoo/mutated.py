"""`python -m zoo.mutated LIBRARY [PROGRAM …]`: put mistakes into the programs of `real/` by rule, one at a
time, and count what is explained of those that fail; as JSON. `torch` is minigrad or PyTorch in a process of
its own.

The mistakes of the zoo are chosen by hand, and so are their explanations. These are not: nobody looked which
of them can be explained.
"""

from __future__ import annotations

import ast
import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PROGRAMS = sorted((Path(__file__).parent.parent / "real").glob("*.py"))
SECONDS = 20  # for one program; one that is slower is left out

SIZES = (
    "Linear", "Conv2d", "Embedding", "LSTM", "BatchNorm1d", "BatchNorm2d", "LayerNorm", "randn", "rand",
    "zeros", "ones", "view", "reshape",
)  # fmt: skip
METHODS = (
    "unsqueeze", "squeeze", "flatten", "long", "float", "t", "transpose", "permute", "view", "reshape",
    "item", "detach", "mean", "sum",
)  # fmt: skip
LOSSES = ("cross_entropy", "nll_loss", "mse_loss")


class Mutant(NamedTuple):
    """A program with one mistake: what it is, and the text."""

    what: str
    text: str


class Source:
    """The text of a program, in which one part can be replaced."""

    def __init__(self, text: str) -> None:
        self.text, self.tree = text, ast.parse(text)
        self.lines = text.encode().splitlines(keepends=True)

    def of(self, node: ast.expr) -> str:
        """The source of a part."""
        return ast.get_source_segment(self.text, node) or ""

    def place(self, line: int, column: int) -> int:
        """A place in bytes from the beginning."""
        return sum(map(len, self.lines[: line - 1])) + column

    def with_(self, node: ast.expr, new: str) -> str:
        """The text with another one for a part."""
        begin = self.place(node.lineno, node.col_offset)
        end = self.place(node.end_lineno or 0, node.end_col_offset or 0)
        raw = self.text.encode()
        return (raw[:begin] + new.encode() + raw[end:]).decode()


def mutants(text: str) -> Iterator[Mutant]:
    """The program with one mistake each, every one only once."""
    source, seen = Source(text), {text}
    for node in ast.walk(source.tree):
        for what, changed in (*in_call(source, node), *in_other(source, node)):
            if changed not in seen:
                seen.add(changed)
                yield Mutant(f"{what}, line {node.lineno}", changed)  # type: ignore[attr-defined]


def in_call(source: Source, node: ast.AST) -> Iterator[tuple[str, str]]:
    """Mistakes in a call: another size, a method that is missing, another dimension, a wrong target."""
    if not isinstance(node, ast.Call):
        return
    name = ast.unparse(node.func).rpartition(".")[2]
    for i, size in enumerate(node.args if name in SIZES else ()):
        if isinstance(size, ast.Constant) and type(size.value) is int and size.value > 0:
            yield f"{name} {i}", source.with_(size, str(size.value + 1))
    if isinstance(node.func, ast.Attribute) and name in METHODS:
        owner = source.of(node.func.value)
        if owner not in ("torch", "F", "np", "nn"):
            yield f"no {name}", source.with_(node, owner)
    for keyword in node.keywords:
        value = keyword.value
        if keyword.arg in ("dim", "axis") and isinstance(value, ast.Constant) and type(value.value) is int:
            yield "dim", source.with_(value, str(value.value + 1))
        elif keyword.arg in ("keepdim", "requires_grad"):
            yield f"no {keyword.arg}", source.with_(value, "False")
    if name in LOSSES and len(node.args) > 1:
        first, target = map(source.of, node.args[:2])
        for new in (f"({target}).float()", f"({target}).unsqueeze(-1)", f"{target} + 1"):
            yield f"{name} of {new}", source.with_(node.args[1], new)
        yield f"{name} exchanged", source.with_(node, f"{ast.unparse(node.func)}({target}, {first})")
    if name in ("cat", "stack") and node.args and isinstance(node.args[0], ast.List):
        yield f"{name} without list", source.with_(node.args[0], source.of(node.args[0])[1:-1])


def in_other(source: Source, node: ast.AST) -> Iterator[tuple[str, str]]:
    """Mistakes elsewhere: exchanged factors, a missing transpose, whole numbers, a division."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield "exchanged", source.with_(node, f"{source.of(node.right)} @ {source.of(node.left)}")
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        yield "/ for //", source.with_(node, f"{source.of(node.left)} / {source.of(node.right)}")
    elif isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "data", "values"):
        yield f"no {node.attr}", source.with_(node, source.of(node.value))
    elif isinstance(node, ast.List) and len(node.elts) > 2:
        numbers = [each.value for each in node.elts if isinstance(each, ast.Constant)]
        if len(numbers) == len(node.elts) and all(type(number) is float for number in numbers):
            yield "whole numbers", source.with_(node, str([int(number) for number in numbers]))


def applied(text: str, told: Any) -> str | None:
    """The program with the code that a fix quotes in its place; None where it quotes none."""
    lines = text.splitlines(keepends=True)
    parts = re.search(r"In line (\d+), write `([^`]+)` instead of `([^`]+)`", told.fix)
    whole = re.search(r"In line (\d+), create [^`]*`([^`]+)`", told.fix)
    listed = re.findall(r"`([^`]+)` \(line (\d+)\)", told.fix)
    code = re.search("`([^`]+)`", told.fix)
    if parts is not None:
        i = int(parts[1]) - 1
        lines[i] = lines[i].replace(parts[3], parts[2], 1)
    elif whole is not None:
        lines[int(whole[1]) - 1] = like(lines[int(whole[1]) - 1], whole[2])
    elif listed:
        for new, line in listed:
            lines[int(line) - 1] = like(lines[int(line) - 1], new)
    elif code is not None and told.span is not None and not told.span.origin:
        i = told.span.line - 1
        new = code[1]
        same = lines[i].split()[:1] == new.split()[:1] or new.startswith("with torch.no_grad")
        lines[i] = like(lines[i], new) if same else lines[i].replace(told.span.text, new, 1)
    else:
        return None
    new = "".join(lines)
    return None if new == text or not is_python(new) else new


def like(line: str, code: str) -> str:
    """Code as indented as a line."""
    return line[: len(line) - len(line.lstrip())] + code + "\n"


def is_python(text: str) -> bool:
    """Whether a text can be compiled."""
    try:
        compile(text, "<cell>", "exec")
    except SyntaxError:
        return False
    return True


class Slow(BaseException):
    """A program needs too much time."""


def stop(*_: Any) -> None:
    """Called after some seconds."""
    raise Slow


def counted(text: str, attempt: Any) -> Counter[str]:
    """What came of all mutants of a program. "false": explanations where nothing failed."""
    count = Counter[str]()
    run, told = attempt(text)
    count["false"] = len(told)
    assert run is not None and run.error is None
    for mutant in mutants(text):
        run, told = attempt(mutant.text)
        if run is None or run.error is None:
            continue
        count["failed"] += 1
        if not told or not told[-1].key or not told[-1].why:
            count[f"unexplained: {run.error!r}"] += 1
            continue
        count["explained"] += 1
        cure = applied(mutant.text, told[-1])
        if cure is not None:
            count["code"] += 1
            fixed, _ = attempt(cure)
            count["cured"] += fixed is not None and fixed.error is None
    return count


def main(library: str, names: list[str]) -> None:
    import minigrad

    if library == "minigrad":
        minigrad.install_as_torch()
    import torch
    from cells import run
    from staged import explanations_of

    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, stop)

    def attempt(text: str) -> tuple[Any, Any]:
        signal.alarm(SECONDS)
        try:
            ran = run(text, torch)
        except Slow:
            return None, ()
        finally:
            signal.alarm(0)
        return ran, explanations_of(ran.trace, "en")

    count = Counter[str]()
    for path in PROGRAMS:
        if not names or path.stem in names:
            count += counted(path.read_text(encoding="utf-8"), attempt)
    print(json.dumps(count))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
