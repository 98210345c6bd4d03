"""Trace → ledger: how the `.grad` of each tensor got its value, entry by entry.

x.grad    backward 1 stores 0.6           0.6
          backward 2 adds 0.6             0.6 + 0.6 = 1.2    (nothing had reset it)
          x.grad.zero_()                  0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..protocol import Value
from ..snapshots import agree
from ..trace.events import AGAIN, GradAccumulated, GradSet, Snapshot, TensorCreated, TensorState
from ..trace.source_positions import Span
from .naming import names_of, with_subscripts
from .stations import Edge
from .trace_index import TraceIndex

BEFORE, DEPOSIT, RETAINED, HOOK = "before", "deposit", "retained", "hook"
SKIPPED, COUNTED, UNSEEN = "skipped", "counted", "unseen"
ADDING = (BEFORE, DEPOSIT, RETAINED, SKIPPED)  # entries after which a deposit adds to what nobody has reset
RESETS = ("zero", "none", "assigned", "written", HOOK)


class Entry(NamedTuple):
    """One change of a `.grad`, from `before` to `after`.

    `kind` is BEFORE (it was there before the cell), DEPOSIT (of an AccumulateGrad), RETAINED (of a tensor
    that is not a leaf), HOOK (a leaf's hook changed it after the deposit), SKIPPED (all that happened in
    backward calls that were not kept), COUNTED (the same after others that were kept), UNSEEN (something that
    was not recorded), or the `how` of a `GradSet`.
    In a backward `call` the nodes `sources` sent the `amount`. `again`: it was added to what an earlier call
    had left, although nobody may have meant that.
    """

    kind: str
    before: Value | None
    after: Value | None
    amount: Value | None = None
    call: int = 0
    sources: tuple[str, ...] = ()
    span: Span | None = None
    again: bool = False


class Account(NamedTuple):
    """The entries of one tensor; `left_out` counts the deposits of backward calls that were not kept."""

    tensor: str
    name: str
    entries: tuple[Entry, ...]
    left_out: int = 0

    @property
    def telling(self) -> bool:
        """Whether there is something to wonder about: more than one deposit, or a change by the cell."""
        deposits = sum(entry.kind in ADDING for entry in self.entries) + self.left_out
        return deposits > 1 or any(entry.kind in RESETS for entry in self.entries)


def ledger_of(index: TraceIndex) -> tuple[Account, ...]:
    """The accounts of all tensors of a recorded cell that have, or had, a `.grad`."""
    return Clerk(index).accounts()


class Clerk:
    """Reads a trace, and keeps the accounts."""

    def __init__(self, index: TraceIndex) -> None:
        self.index = index
        self.entries: dict[str, list[Entry]] = {}
        self.total: dict[str, Value | None] = {}
        self.left_out = dict(index.trace.deposits)
        self.senders: dict[int, dict[Edge, list[str]]] = {}  # by call and edge, the names of the nodes
        for event in index.trace.events:
            self.read(event)

    def read(self, event: Any) -> None:
        """Take one event in."""
        match event:
            case TensorCreated():
                self.came(event.tensor)
            case GradAccumulated():
                self.deposited(event)
            case GradSet() if event.how != "empty":
                self.stood(event.tensor, event.before)
                self.enter(event.tensor, Entry(event.how, event.before, event.after, span=event.span))
            case Snapshot():
                for state in event.states:
                    if event.when == "after" and state.grad_fn is not None:
                        self.retained(event.call, state)
                    elif state.is_leaf or state.retains_grad:
                        self.stood(state.id, state.grad, event.when == AGAIN)

    def enter(self, tensor: str, entry: Entry) -> None:
        """Add an entry to a tensor's account."""
        self.entries.setdefault(tensor, []).append(entry)
        self.total[tensor] = entry.after

    def came(self, state: TensorState) -> None:
        """A tensor came into the cell, perhaps with a gradient."""
        if state.id not in self.total:
            self.total[state.id] = None
            if state.grad is not None:
                self.enter(state.id, Entry(BEFORE, None, state.grad))

    def stood(self, tensor: str, grad: Value | None, counted: bool = False) -> None:
        """A gradient was seen: if it is another than the account says, something was not recorded; the calls
        before were only `counted`, or are left out."""
        known = tensor in self.total
        if not known and grad is not None:
            self.enter(tensor, Entry(BEFORE, None, grad))
        elif known and not same_gradient(self.total[tensor], grad):
            first = tensor in self.left_out and not self.entries.get(tensor)
            kind = SKIPPED if first else COUNTED if counted else UNSEEN
            self.enter(tensor, Entry(kind, self.total[tensor], grad))

    def deposited(self, event: GradAccumulated) -> None:
        """An AccumulateGrad added to a leaf's gradient, and the leaf's hooks may have changed that."""
        self.stood(event.tensor, event.before)
        added = event.before, event.after, event.added, event.call, self.sources(event.call, event.node, 0)
        again = self.adds(event.tensor, event.before)
        self.enter(event.tensor, Entry(DEPOSIT, *added, self.span_of(event.call), again))
        for hook in self.index.calls[event.call].hooks.get(event.node, ()):
            if hook.kind != "post_accumulate":  # one that ran before, or has no gradients at all
                continue
            before, after = hook.before[0], hook.after[0]
            if not same_gradient(before, after):
                self.enter(event.tensor, Entry(HOOK, before, after, call=event.call, sources=(hook.name,)))

    def retained(self, call: int, state: TensorState) -> None:
        """A tensor that is not a leaf, just after a call."""
        before = self.total.get(state.id)
        if state.grad is None or same_gradient(before, state.grad) or call not in self.index.calls:
            return
        nr, amount = 0, state.grad if before is None else None
        ran = self.index.calls[call].ran.get(state.node or "")
        if ran is not None and len(ran.received) == 1:
            amount = ran.received[0]
        sources = self.sources(call, state.node or "", nr)
        span, again = self.span_of(call), self.adds(state.id, before)
        self.enter(state.id, Entry(RETAINED, before, state.grad, amount, call, sources, span, again))

    def adds(self, tensor: str, before: Value | None) -> bool:
        """Whether a deposit adds to what nobody has reset since it came there."""
        last = self.entries[tensor][-1].kind if self.entries.get(tensor) else ""
        return before is not None and last in ADDING and not is_zero(before)

    def sources(self, call: int, node: str, nr: int) -> tuple[str, ...]:
        """The names of the nodes that sent a gradient to output `nr` of `node` in a call."""
        senders = self.senders.get(call)
        if senders is None:
            senders = self.senders[call] = {}
            known = self.index.calls[call]
            for state in () if known.started is None else known.started.nodes:
                for edge, _ in known.sends(state):
                    senders.setdefault(edge, []).append(state.name)
        return tuple(senders.get((node, nr), ()))

    def span_of(self, call: int) -> Span | None:
        """Where a call is."""
        started = self.index.calls[call].started
        return None if started is None else started.span

    def accounts(self) -> tuple[Account, ...]:
        """The accounts, in the order in which the tensors came. One whose variable is another tensor in the
        end has a number: `x.grad` is then what that other tensor has."""
        index, left_out = self.index, self.left_out
        names = names_of(index.places, index.trace.names)
        found = [tensor for tensor in index.at if tensor in self.entries]
        known = {id: names.get(id) or index.seen_as.get(id) or index.at[id][0].expr for id in found}
        variables = {name for name in known.values() if name}
        others = {id: name for id, name in index.trace.names if name in variables and id in index.at}
        known = {id: known.get(id) or others.get(id) for id in index.at if id in known or id in others}
        shown = with_subscripts({id: name for id, name in known.items() if name})
        return tuple(
            Account(id, shown.get(id, "…"), tuple(self.entries[id]), left_out.get(id, 0)) for id in found
        )


def same_gradient(a: Value | None, b: Value | None) -> bool:
    """Whether two gradients are the same, as far as anybody knows."""
    return a is b if a is None or b is None else agree(a, b)


def is_zero(value: Value) -> bool:
    """Whether all numbers are 0."""
    return value.low == value.high == 0 if value.items is None else not any(value.items)
