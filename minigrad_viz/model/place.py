"""What a trace is read into: places of tensors, and what happened in a backward call."""

from __future__ import annotations

import copy
import re
from math import inf

from ..protocol import Value
from ..trace.events import Forward, NodeState, TensorState
from ..trace.graph import Hook

LIBRARY = re.compile(r"(?<![\w.])(?:torch|minigrad)\.")  # left out of expressions: `log(y)`
Edge = tuple[str, int]  # node id, output number


class Place:
    """A station while it is being put together.

    `states` are its tensors; `inputs` tensor ids in the order of
    the op `event`; `brought` says that nobody saw it being made; `built` is the backward call that made it (0
    outside). `time` counts events, `line` is that of the cell (0 where unknown). `gradient_of` are the leaves
    whose `.grad` had this very value when a tensor turned up that nobody made; `used` is the source of its
    first use. `asking` are the inputs that were to get a gradient then, and `cut` is what kept it from them;
    `fog` and `shares` are those of the cards.
    """

    def __init__(
        self, states: tuple[TensorState, ...], name: str | None, expr: str | None, order: int
    ) -> None:
        self.id = ""
        self.states = list(states)
        self.name = name
        self.expr = expr
        self.order = order
        self.inputs: list[str | None] | None = None
        self.event: Forward | None = None
        self.brought = False
        self.built = 0
        self.time = 0
        self.line = 0
        self.gradient_of: list[str] = []
        self.used = ""
        self.asking: set[str] = set()
        self.cut = self.fog = self.shares = ""

    def standing(self, states: list[TensorState]) -> Place:
        """The same place with its tensors as they stood at another moment."""
        twin = copy.copy(self)
        twin.states = states
        if self.node is not None and twin.node is None:
            twin.cut = "detach"  # by `detach_()`
        return twin

    @property
    def node(self) -> str | None:
        """The id of the node below."""
        return self.states[0].node if self.states else None


class Lookup:
    """Tensors, nodes and where they stand."""

    at: dict[str, tuple[Place, int]]  # tensor -> where its card is
    by_node: dict[str, Place]
    nodes: dict[str, NodeState]

    def came_from(self, place: Place) -> list[Place]:
        """The stations that a station was computed from, tracked or not."""
        inputs = [self.at[id][0] for id in place.inputs or () if id in self.at]
        return [p for p in (*inputs, *self.sources(place)) if p is not place]

    def sources(self, place: Place) -> list[Place]:
        """The stations that a station's node sends gradients to."""
        node = self.nodes.get(place.node or "")
        tensors = [self.tensor_of(edge) for edge in (node.edges if node else ()) if edge is not None]
        return [self.at[t][0] for t in tensors if t in self.at]

    def tensor_of(self, edge: Edge) -> str | None:
        """The tensor whose gradient an edge carries."""
        node = self.nodes.get(edge[0])
        if node is not None and node.variable is not None:
            return node.variable
        place = self.by_node.get(edge[0])
        return place.states[edge[1]].id if place is not None and edge[1] < len(place.states) else None


class Call:
    """What happened in one backward call."""

    def __init__(self) -> None:
        self.roots: set[str] = set()
        self.flows: dict[tuple[str, int], list[Value]] = {}  # (node, input) -> what it sent
        self.arrived: dict[tuple[str, int], Value] = {}  # node, output -> its gradient
        self.captured: dict[str, Value] = {}
        self.before: dict[str, Value] = {}  # leaf -> what its `.grad` held already
        self.accumulators: dict[str, str] = {}  # leaf -> its AccumulateGrad
        self.hooks: dict[str, list[Hook]] = {}  # node -> the hooks that ran with it
        self.found: dict[str, str | None] = {}  # node that it found -> the leaf of an AccumulateGrad
        self.ran: set[str] = set()
        self.failed = False
        self.wanted: set[str] | None = None  # the tensors whose gradients were asked for, if not all leaves
        self.skipped: set[str] = set()  # nodes that it left out, because nothing behind them was
        self.begin: float = inf  # when it began
        self.end: float = inf  # when what is seen after it begins
        self.named: set[str] = set()  # the tensors that were variables just before it
