"""Why a base must not be modified through a view while a graph is recorded, in PyTorch's words.

A view stores how it was made (`View.creation`). A view of a view has the creation of the first one that was
special.

    ""           by an op, in grad mode
    "several"    by an op that returns several views, such as `split`: one node is the history of all of them
    "custom"     by a custom Function, whose backward the history of an in-place op would bypass
    "no_grad"    with grad mode off, "inference" in inference mode: outside the graph that its base is in
"""

from __future__ import annotations

from typing import Any

from . import dialect

SEVERAL = (
    " This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
)
CUSTOM = (
    " This view was created inside a custom Function (or because an input was returned as-is) and the "
    "autograd logic to handle view+inplace would override the custom backward associated with the custom "
    "Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the "
    "output of the custom Function."
)
AMBIGUOUS = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
    "moving both the view and the inplace either both inside the {} block (if you don't want the inplace to "
    "be tracked) or both outside (if you want the inplace to be tracked)."
)
WHY = {
    "several": SEVERAL,
    "custom": CUSTOM,
    "no_grad": AMBIGUOUS.format("no_grad"),
    "inference": AMBIGUOUS.format("inference_mode"),
}


def refuse_write(creation: str, fn: Any, nr: int, indirect: bool) -> None:
    """Raise RuntimeError unless `creation` is "". A view, output `nr` of the node `fn` (or None), is being
    modified, or with `indirect` its base was.
    """
    if not creation:
        return
    written = "its base or another view of its base has been" if indirect else "is being"
    output = fn and f"Output {nr} of {dialect.origin_name(type(fn).__name__)} is a view"
    start = f"{output} of a view which was created in" if output else "A view was created in"
    if creation == "inference":
        text = f"{start} inference mode and {written} modified inplace in normal mode."
    elif creation == "no_grad" or output is None:
        text = f"{start} no_grad mode and {written} modified inplace with grad mode enabled."
    else:
        text = f"{output} and {written} modified inplace."
    raise RuntimeError(text + WHY[creation])
