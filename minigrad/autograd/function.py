"""Functions with a derivative of the user's own.

Note [Saved outputs]
    A Function that saves its own output would make a cycle: the output refers to the node, the node to the
    output. So an output is kept as raw data and rebuilt when it is asked for. Everything else that is saved
    is kept as it is, and `ctx.saved_tensors[0] is x` holds for an input.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import dialect, modes
from ..graph import RELEASED, Node, sequence_numbers
from ..inplace import Unobserved
from ..op import F, modified
from ..tensor_base import TensorBase, alias, attach, edge, share, wrap


class FunctionNode(Node):
    """The node of a custom Function, which is also the `ctx` that its methods receive."""

    __slots__ = ("__dict__", "_kept", "_shapes", "_sizes")
    _kept: tuple[Any, ...]  # what `save_for_backward` got, see `_keep`
    _shapes: tuple[Any, ...]  # per output its shape and dtype, None for what is no tensor
    _sizes: tuple[Any, ...]  # the same per input
    speaks: ClassVar[bool] = True
    function: ClassVar[type[Function]]
    needs_input_grad: tuple[bool, ...] = ()
    _materialize = True
    _to_save: tuple[Any, ...] = ()
    _not_differentiable: tuple[Any, ...] = ()

    def name(self) -> str:
        """`<Function's name>Backward`."""
        return type(self).__name__

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for `backward`, where they are `ctx.saved_tensors`."""
        for t in tensors:
            if t is not None and not isinstance(t, TensorBase):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {tensors.index(t)} is of type "
                    f"{type(t).__name__}"
                )
        self._to_save = tensors

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """Outputs that need no gradient."""
        self._not_differentiable = outputs

    def set_materialize_grads(self, value: bool) -> None:
        """Whether a missing gradient reaches `backward` as zeros (the default) or as None."""
        self._materialize = bool(value)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept, checked for in-place changes."""
        if self._check is RELEASED:
            raise RuntimeError(dialect.second_backward_error())
        return tuple(self._unpack(entry) for entry in self._kept)

    def _unpack(self, entry: Any) -> Any:
        if entry is None:
            return None
        tensor, data, nr, version = entry
        storage = self.storage(nr) if tensor is None else tensor._storage
        if storage is not None and storage.version != version:
            carrier = self if tensor is None else tensor._fn
            raise RuntimeError(modified(data, carrier, nr, storage.version, version))
        if tensor is not None:
            return tensor
        result = attach(data, self, nr)
        result._storage = storage
        return result

    def _keep(self, outputs: list[Any]) -> None:
        """Turn what `save_for_backward` got into what is kept. See Note [Saved outputs]."""
        kept: list[Any] = []
        for t in self._to_save:
            nr = next((i for i, o in enumerate(outputs) if o is t), None)
            if t is None:
                kept.append(None)
            elif nr is not None and t._fn is self:
                kept.append((None, t._data, nr, t._version))
            else:
                kept.append((t, t._data, t._nr, t._version))
        self._kept = tuple(kept)
        self._to_save = self._not_differentiable = ()

    def apply(self, gradient: Any) -> tuple[Any, ...]:
        """Run the user's backward on raw gradients."""
        results = self._run([None if g is None else wrap(g) for g in self._listed(gradient)])
        return tuple(None if r is None else r._data for r in results)

    def apply_tensors(self, gradient: Any) -> tuple[Any, ...]:
        """Run the user's backward on tensors, recorded."""
        return tuple(self._run(self._listed(gradient)))

    def _listed(self, gradient: Any) -> list[Any]:
        """The gradients of all outputs, whatever form the engine gave them."""
        return (
            gradient
            if isinstance(gradient, list)
            else [gradient]
            if self.outputs == 1
            else [None] * self.outputs
        )

    def _run(self, grads: list[Any]) -> list[Any]:
        """Call the user's backward; one checked gradient per edge."""
        if self._materialize:
            grads = [
                wrap(np.zeros(*shape)[()]) if g is None and shape is not None else g
                for g, shape in zip(grads, self._shapes)
            ]
        cls = self.function
        method = cls.vjp if cls.vjp is not Function.vjp else cls.backward
        watchers = modes.observers()
        if watchers:
            results = run_watched(watchers, self, method, grads)
        else:
            results = method(self, *grads)
        results = list(results) if isinstance(results, tuple) else [results]
        expected = len(self._sizes)
        if len(results) > expected and all(r is None for r in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, "
                f"got {len(results)})"
            )
        checked = [self._validate(i, r) for i, r in enumerate(results)]
        return [g for g, size in zip(checked, self._sizes) if size is not None]

    def _validate(self, i: int, gradient: Any) -> Any:
        """Check one gradient that the user's backward returned; bring it to the input's shape and dtype."""
        if gradient is None:
            return None
        if not isinstance(gradient, TensorBase):
            raise RuntimeError(f"expected Variable or None (got {type(gradient).__name__})")
        if self._sizes[i] is None:
            raise RuntimeError(
                f"function {self.name()} returned a gradient different than None at position {i + 1}, but "
                "the corresponding forward input was not a Variable"
            )
        if not self.needs_input_grad[i]:
            return None
        shape, dtype = self._sizes[i]
        if gradient._data.shape != shape:
            if not expandable(shape, gradient._data.shape):
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {i} - got "
                    f"{list(gradient._data.shape)} but expected shape compatible with {list(shape)}"
                )
            gradient = F.sum_to(gradient, shape)
        return gradient if gradient._data.dtype == dtype else F.to(gradient, dtype)

    def release(self) -> None:
        """Forget the saved tensors; a Function that saved none can run again."""
        if self._kept:
            self._kept = ()
            self._check = RELEASED

    def __repr__(self) -> str:
        # The name under which PyTorch shows it, and the documents with it.
        return f"<torch.autograd.function.{self.name()} object at 0x{id(self):012x}>"


def run_watched(watchers: tuple[Any, ...], node: FunctionNode, method: Any, grads: list[Any]) -> Any:
    """Call the user's backward, and tell observers when it starts and ends."""
    for watcher in watchers:
        watcher.custom_starts(node)
    try:
        return method(node, *grads)
    finally:
        for watcher in watchers:
            watcher.custom_ended()


def expandable(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether `shape` broadcasts to `target`."""
    return len(shape) <= len(target) and all(
        a in (1, b) for a, b in zip(reversed(shape), reversed(target), strict=False)
    )


class Function:
    """Base class of ops with a derivative of your own: static methods `forward(ctx, *inputs)` and
    `backward(ctx, *grads)`.

    Call it with `apply`. `forward` may leave out `ctx` if `setup_context(ctx, inputs, output)` is defined as
    well.
    """

    node: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.node = type(cls.__name__ + "Backward", (FunctionNode,), {"function": cls, "__slots__": ()})

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs, when `forward` has no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gradients of the inputs from those of the outputs, one per input of `forward`."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with backward mode AD."
        )

    vjp = backward

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run `forward` and leave a node in the graph."""
        node = make_node(cls, args)
        with Unobserved(False):
            if cls.setup_context is not Function.setup_context:
                output = cls.forward(*args)
                cls.setup_context(node, args, output)
            else:
                output = cls.forward(node, *args)
        recorded = modes.is_grad_enabled() and any(n is not None for n in node._next)
        outputs = list(output) if isinstance(output, tuple) else [output]
        result = finish(node, args, outputs, recorded)
        if modes.active:
            for observer in modes.observers():
                observer.forward(cls, list(args), result if isinstance(output, tuple) else result[0])
        return tuple(result) if isinstance(output, tuple) else result[0]


def make_node(cls: type[Function], args: tuple[Any, ...]) -> FunctionNode:
    """The node (and ctx) of one call."""
    node = object.__new__(cls.node)
    tensors = [t for t in args if isinstance(t, TensorBase)]
    node._next = targets = tuple(edge(t) for t in tensors)
    nrs = tuple(t._nr if n is not None else 0 for t, n in zip(tensors, targets))
    node._nrs = nrs if any(nrs) else None
    node._seq = next(sequence_numbers)
    node._check = node._cast = node._storage = node._extra = None
    node._kept = ()
    node._sizes = tuple((t._data.shape, t._data.dtype) if isinstance(t, TensorBase) else None for t in args)
    node.needs_input_grad = tuple(isinstance(t, TensorBase) and t.requires_grad for t in args)
    return node


def finish(node: FunctionNode, args: tuple[Any, ...], outputs: list[Any], recorded: bool) -> list[Any]:
    """Give the outputs their history and keep what was saved."""
    tensors = [isinstance(o, TensorBase) for o in outputs]
    for i, o in enumerate(outputs):
        if tensors[i] and any(o is a for a in args):
            share(o)
            outputs[i] = alias(o, o._data)
    if not recorded or not any(tensors):
        node._to_save = ()
        return outputs
    node.outputs = len(outputs)
    node._shapes = tuple((o._data.shape, o._data.dtype) if t else None for o, t in zip(outputs, tensors))
    for i, o in enumerate(outputs):
        if not tensors[i] or any(o is skip for skip in node._not_differentiable):
            continue
        if o._fn is not None or o._acc is not None:
            share(o)
            o = outputs[i] = alias(o, o._data)
        o._fn, o._nr = node, i
        if o._storage is not None:
            node.set_storage(i, o._storage)
    node._keep(outputs)
    return outputs
