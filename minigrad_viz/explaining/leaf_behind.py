"""A leaf without a name: `w = torch.randn(3, requires_grad=True) * 0.1` makes a computed result of w."""

from __future__ import annotations

import ast

from ..trace.where import Span
from .case import Case, Said
from .edits import quoted
from .syntax import statement_around, written_as


class Plain(ast.NodeTransformer):
    """Leaves out what makes a tensor require gradients."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The call without `requires_grad=True`; what stands before `.requires_grad_()`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
            return node.func.value
        node.keywords = [each for each in node.keywords if each.arg != "requires_grad"]
        return node


def leaf_behind(case: Case, tensor: str) -> tuple[Said, Said, Span] | None:
    """Why and fix for a tensor that was computed, in the statement which creates it, from a leaf that nothing
    else names; and that statement. None for any other tensor."""
    event = case.scene.index.births.get(tensor)
    tree = None if event is None else statement_around(case, event.span)
    if event is None or event.span is None or not isinstance(tree, ast.Assign) or len(tree.targets) != 1:
        return None
    new = Plain().visit(ast.parse(ast.unparse(tree.value), mode="eval")).body
    if ast.unparse(new) == ast.unparse(tree.value):
        return None
    name, source = ast.unparse(tree.targets[0]), written_as(case, tree)
    code = quoted(f"{name} = ({ast.unparse(new)}).requires_grad_()")
    if code is None:
        return None
    why = case.words("leaf_behind_why", name=name, source=source, line=event.span.line)
    return why, case.words("leaf_behind_fix", name=name, code=code), event.span
