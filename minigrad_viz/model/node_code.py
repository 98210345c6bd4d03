"""Details of a node beside its values: the source of a custom Function, the arguments of an op."""

from __future__ import annotations

from ..protocol import op_of
from ..trace.events import Forward, NodeState
from ..trace.graph import Code
from ..trace.where import Span

TENSOR, NUMBER = "tensor", "number"


def code_of(node: NodeState) -> tuple[Code, ...]:
    """The methods of a custom Function as they stand in the source, `backward` last."""
    methods = [*node.methods, *([("backward", node.code)] if node.code is not None else [])]
    function = node.name.rstrip("0123456789").removesuffix("Backward")
    return tuple(
        Code(f"{function}.{name}", dedented(span), 0 if span.origin else span.line) for name, span in methods
    )


def dedented(span: Span) -> str:
    """The text of a span whose first line begins at its column, the others at the margin."""
    first, *others = span.text.split("\n")
    cut = (line[span.column :] if not line[: span.column].strip() else line.lstrip() for line in others)
    return "\n".join([first, *cut]).rstrip()


def kinds_of(node: NodeState, event: Forward | None) -> tuple[str, ...]:
    """Of each argument of the op that made a node, in the order of the expression, whether it was a tensor or
    a number; empty where one was neither, and where the op is made of several."""
    if event is None or len(event.outputs) != 1:
        return ()
    called, made = event.op.replace("_", ""), op_of(node.name)
    if not called.startswith((made, f"r{made}")):
        return ()
    kinds = [
        TENSOR if id is not None else NUMBER if is_number(said) else ""
        for id, said in zip(event.inputs, event.arguments, strict=True)
    ]
    if "" in kinds or "…" in event.inputs:
        return ()
    turned = called in ("rpow", "rsub", "rdiv")  # 2 ** x is recorded as x's method with the argument 2
    return tuple(reversed(kinds) if turned else kinds)


def is_number(said: str | None) -> bool:
    """Whether an argument's text is that of a number; True and False are none."""
    try:
        complex(said or "")
    except ValueError:
        return False
    return True
