"""What minigrad tells thousands of times, noted in a hurry.

Note [Fast notes]
    Here the time of recording is spent, so what is plain is noted without asking tensors and nodes through
    their properties: an op with one result that shares memory with nobody, a node with plain saved values,
    a node that ran without leaving a graph. Everything else goes through the recorder's methods, which ask
    minigrad as they ask any library; a test holds both ways to the same events.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import dialect, modes
from minigrad.graph import AccumulateGrad
from minigrad.op import Op
from minigrad.tensor_base import TensorBase, wrap

if TYPE_CHECKING:
    from .minigrad import Minigrad

SCALARS = (np.float32, np.float64)
NUMBERS = (int, float, bool, type(None))


def forward_of(source: Minigrad) -> Callable[[Any, Any, Any], None]:
    """The observer's `forward`, with all it needs at hand. See Note [Fast notes]."""
    recorder, general = source.recorder, source.ran
    ids, numbers, noted, locator = recorder.ids, recorder.numbers, recorder.notes, recorder.locator
    outputs, objects, numbered, titles = ids.outputs, ids.objects, ids.tensors.__next__, source.titles
    namespace, spots = recorder.namespace, locator.spots
    frame_of, reference, kind = sys._getframe, weakref.ref, TensorBase.result_class
    places: dict[tuple[int, int], int] = {}  # numbers of points in the source, by code and offset

    def forward(op: Any, inputs: Any, output: Any) -> None:
        if recorder.call or op.__class__ is not Op or output.__class__ is not kind:
            return general(op, inputs, output)
        if output._storage is not None:
            return general(op, inputs, output)
        try:
            given: list[Any] = []
            for value in inputs:
                if not isinstance(value, TensorBase):
                    if value.__class__ not in NUMBERS:
                        return general(op, inputs, output)
                    given.append(value)
                    continue
                fn = value._fn
                if value._view is not None:
                    return general(op, inputs, output)
                if fn is not None:
                    name = outputs.get((fn._seq, value._nr) if value._nr else fn._seq)
                else:
                    known = objects.get(id(value))
                    name = known[0] if known is not None and known[1]() is value else None
                if name is None:
                    return general(op, inputs, output)
                given.append(name)
            fn = output._fn
            if recorder.problem is not None or (fn is None and not modes.state.grad_enabled):
                return general(op, inputs, output)
            frame: Any = frame_of(2)
            inner = 0
            while frame is not None and frame.f_globals is not namespace:
                inner, frame = frame.f_lasti, frame.f_back
            here = (0, 0) if frame is None else (id(frame.f_code), frame.f_lasti)
            place: Any = places.get(here)
            if place is None:
                if locator.inside(frame_of(2)):
                    return general(op, inputs, output)
                spot, top, inner = locator.reach(frame_of(2))
                place = None if spot is None else recorder.place_of(spot)
                if spot is not None and spots.get(here) is spot:
                    places[here] = place
            else:
                spot = recorder.spots[place]
                top = locator.top(frame.f_back) if spot.nested else spot.top
            name = f"t{numbered()}"
            data = output._data
            taken = data if data.__class__ in SCALARS else numbers.take(data)
            key = title = None
            if fn is None:
                objects[id(output)] = name, reference(output)
            else:
                key = fn._seq
                outputs[key] = name
                title = titles[dialect._current].get(fn.__class__) or source.title(fn)
            unset = dialect.retains_grad_unset()
            noted.append(("forward", name, op.name, key, title, taken, unset, place, top, inner, *given))
        except Exception as problem:
            recorder.problem = problem

    return forward


def node_ran_of(source: Minigrad) -> Callable[[Any, Any, Any], None]:
    """The observer's `node_ran`, with all it needs at hand."""
    recorder = source.recorder
    noted = recorder.notes

    def node_ran(node: Any, received: Any, sent: Any) -> None:
        if recorder.depth != 1 or recorder.problem is not None:
            return
        try:
            if node.__class__ is AccumulateGrad:
                source.deposited(node, received)
            elif source.wraps or received.__class__ is list or type(node).op is None:
                tensors = [wrapped(g) for g in (received if isinstance(received, list) else [received])]
                recorder.node_ran(node, tensors, [wrapped(g) for g in sent])
            else:
                if received is not None and received.__class__ not in SCALARS:
                    received = source.received(node, received)
                taken = [g if g is None or g.__class__ in SCALARS else source.sent(g) for g in sent]
                noted.append(("ran", recorder.call, node._seq, received, *taken))
        except Exception as problem:
            recorder.problem = problem

    return node_ran


def wrapped(gradient: Any) -> Any:
    """A gradient as a tensor."""
    return gradient if gradient is None or isinstance(gradient, TensorBase) else wrap(gradient)
