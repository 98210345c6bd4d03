"""Where the number of a leaf stands in the source of a cell."""

from __future__ import annotations

import ast

from ..trace.where import Span


def number_in(source: str, span: Span, place: tuple[int, ...]) -> tuple[int, str, str] | None:
    """The line in which the expression at `span`, a call like `torch.tensor([1.0, 2.0])`, has the number at a
    place, and what stands in it before and after that number; None if it has none there."""
    lines = source.split("\n")
    try:
        call = ast.parse(
            f"(\n{span.text}\n)", mode="eval"
        ).body  # in a line of its own, from its first column
    except SyntaxError:
        return None
    if span.origin or not isinstance(call, ast.Call) or not call.args:
        return None
    node = call.args[0]
    for index in place:
        if not isinstance(node, ast.List | ast.Tuple) or index >= len(node.elts):
            return None
        node = node.elts[index]
    plain = node.operand if isinstance(node, ast.UnaryOp) else node
    if not isinstance(plain, ast.Constant) or isinstance(plain.value, bool):
        return None
    if not isinstance(plain.value, int | float) or node.end_lineno != node.lineno:
        return None
    row = span.line + node.lineno - 3  # the expression begins in the second line
    if not 0 <= row < len(lines):
        return None
    line, shift = lines[row].encode(), span.column if node.lineno == 2 else 0
    before, number, after = (
        line[: node.col_offset + shift],
        line[node.col_offset + shift : (node.end_col_offset or 0) + shift],
        line[(node.end_col_offset or 0) + shift :],
    )
    if number.decode() != ast.get_source_segment(f"(\n{span.text}\n)", node):
        return None
    return row + 1, before.decode(), after.decode()
