"""What becomes of the outputs of a custom Function: their place in the graph.

An output that is an input as it was given is returned as a view of it, so that it can have a history of its
own; an input that was written to (`mark_dirty`) gets the node as its new history; any other tensor gets the
node as its history even if it had another.
"""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from ...core import F, dtypes
from ...core.tensor_state import IN_PLACE_ON_LEAF, TensorBase, alias, share
from ...core.view_path import share_view
from ...inplace.in_place import rebase
from ...inplace.views import refuse
from .context import BackwardCFunction

SAVED_AS_IS = (
    "An input that has been returned as-is as output is being saved for backward. This is not supported if "
    "you override setup_context. You should return and save a view of the input instead, e.g. with "
    "x.view_as(x) or setup ctx inside the forward function itself."
)
# These end where PyTorch ends them.
NO_TUPLE = "autograd internal error: {} attribute is expected to be a tuple but is "
NO_TENSOR = {
    "dirty_tensors": "mark_dirty can only accept variables, but argument ",
    "non_differentiable": "mark_non_differentiable only accepts variable arguments, but got ",
}
LEAF = "a leaf Variable that requires grad has been used in an in-place operation."
NOT_AN_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
    "should be passed to ctx.mark_dirty()."
)
DIRTY_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
    "return more than one Tensor. This is not supported by the current autograd engine. You should either "
    "make sure the input is not a view (using .clone() for example) or make your Function only return one "
    "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single Tensor "
    "and a second one that does the other operations). You can ask on the forum https://discuss.pytorch.org/ "
    "if you need help to do this change."
)
NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
    "are modified inplace must all be outputs of the Function."
)


class Outputs:
    """The outputs of one call: `raw` as `forward` returned them, `results` as the caller gets them.

    `recorded`: the call leaves a node. `saved` are the tensors saved by a `setup_context`.
    """

    def __init__(
        self, node: BackwardCFunction, args: tuple[Any, ...], raw: Any, recorded: bool, saved: Any
    ) -> None:
        self.node, self.recorded, self.raw = node, recorded, raw
        self.inputs = {id(t) for t in args if isinstance(t, TensorBase)}
        self.saved = {id(t) for t in saved}
        self.apart = {id(t) for t in tensors(node, "non_differentiable")}
        self.dirty = {id(t): t for t in tensors(node, "dirty_tensors")}
        for t in self.dirty.values():
            share(t).version += 1
        node._outputs = len(raw)
        self.results = list(raw)
        for i, output in enumerate(raw):
            if isinstance(output, TensorBase):
                self.results[i] = self.finished(i, output)
        node._learning = tuple(i for i, o in enumerate(raw) if self.learns(o))
        if len(node._learning) > 1:
            for t in self.results:
                note_creation(t, "several")
        if self.dirty.keys() - {id(o) for o in raw}:
            raise RuntimeError(NOT_RETURNED)
        if recorded:
            node._made = tuple(kind(t) for t in self.results)

    def learns(self, output: Any) -> bool:
        """Whether an output gets a gradient."""
        return (
            self.recorded
            and isinstance(output, TensorBase)
            and id(output) not in self.apart
            and output._data.dtype in dtypes.DIFFERENTIABLE
        )

    def finished(self, i: int, output: Any) -> Any:
        """What the caller gets for output `i`, with its history."""
        is_input, is_dirty = id(output) in self.inputs, id(output) in self.dirty
        result = output
        if not self.learns(output):
            result = self.apart_from_graph(output, is_input, is_dirty)
        elif is_dirty:
            self.written(i, output, is_input)
        else:
            if is_input:
                result = self.as_view(output)
            set_history(result, self.node, i)
        if not (is_input and is_dirty):
            note_creation(result, "custom")
        return result

    def as_view(self, t: Any) -> Any:
        """An input that is returned as it was given: a view of it."""
        if id(t) in self.saved:
            raise RuntimeError(SAVED_AS_IS)
        share(t)
        return share_view(F.view.op, [t], t._data)

    def apart_from_graph(self, t: Any, is_input: bool, is_dirty: bool) -> Any:
        """An output that needs no gradient."""
        if not t.requires_grad:
            return self.as_view(t) if is_input and not is_dirty else t
        if is_input:
            return alias(t, (share(t), t._data)[1])
        return t if t._view is not None else t.detach_()

    def written(self, i: int, t: Any, is_input: bool) -> None:
        """Give an input that was written to its new history."""
        if t._fn is None and t.requires_grad:
            raise RuntimeError(LEAF)
        if not is_input:
            warnings.warn(NOT_AN_INPUT, UserWarning, stacklevel=7)
        if t._view is not None and len(self.raw) > 1:
            raise RuntimeError(DIRTY_VIEW)
        t._grad = None
        if t._view is not None:
            refuse(t, False)
            if t.requires_grad and t._view.base.is_leaf:
                raise RuntimeError(f"a view of {IN_PLACE_ON_LEAF}")
            rebase(t, self.node)
            self.node._in_place_on_view = True
            self.node._set_storage(i, t._storage)
            return
        old, nr = t._fn, t._nr
        set_history(t, self.node, i)
        share(t).writer = type(self.node).__name__
        if t._retains and old is not None:
            old._extra_made.retain.pop(nr, None)
            self.node._extra_made.retain[i] = weakref.ref(t)


def tensors(node: BackwardCFunction, name: str) -> tuple[Any, ...]:
    """What was marked as `name`; RuntimeError if it is no tuple of tensors."""
    value = getattr(node, name)
    if value is None:
        return ()
    if not isinstance(value, tuple):
        raise RuntimeError(NO_TUPLE.format(name))
    if not all(isinstance(t, TensorBase) for t in value):
        raise RuntimeError(NO_TENSOR[name])
    return value


def kind(t: Any) -> tuple[Any, Any] | None:
    """Shape and dtype of a tensor, None for anything else."""
    return (t._data.shape, t._data.dtype) if isinstance(t, TensorBase) else None


def set_history(t: Any, node: BackwardCFunction, nr: int) -> None:
    """`t` is output `nr` of `node`, whatever made it before."""
    t._fn, t._nr, t._acc = node, nr, None
    if t._view is not None:
        t._view.version = t._storage.version
    if t._storage is not None:
        node._set_storage(nr, t._storage)


def note_creation(t: Any, creation: str) -> None:
    """Note on a view how it was made: by a custom Function (`"custom"`), or as one of several of its outputs
    (`"several"`). It must not be written to.
    """
    if isinstance(t, TensorBase) and t._view is not None:
        t._view.creation = creation
        if isinstance(t._fn, BackwardCFunction):
            t._fn._creation = creation
