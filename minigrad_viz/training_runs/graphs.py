"""What a graph says just before backward runs, while its nodes still hold their saved values: which leaves it
reaches, how the loss was computed, how many units of an activation are dead or saturated, and where the first
value is that is not finite.
"""

from __future__ import annotations

import bisect
import math
from typing import Any, NamedTuple

from ..training_faults.evidence import ActivationFacts, Evidence, LossFacts, NotFinite, Place
from ..training_faults.vocabulary import CURVES, LOSSES, REDUCTIONS, VIEWS
from .library import Library, op_of_node

RISKY = (
    "log", "sqrt", "pow", "norm", "linalg_vector_norm", "div", "reciprocal", "acos", "asin", "std", "var",
    "rsqrt", "log2", "log10", "atan2", "exp", "cdist",
)  # fmt: skip
STEEP = ("sqrt", "norm", "linalg_vector_norm", "std", "rsqrt")  # at a result of 0
LARGEST = 20_000  # nodes of a graph that are looked at


class Call(NamedTuple):
    """A call of a module: its name and class, and the sequence numbers of the nodes inside."""

    name: str
    kind: str
    start: int
    end: int


class Graph:
    """The nodes of a loss, in the order in which they were created."""

    def __init__(self, library: Library, root: Any, calls: list[Call], lines: list[tuple[int, Place | None]]):
        self.library, self.calls = library, calls
        self.leaves: dict[int, Any] = {}
        self.accumulators: list[tuple[Any, Any]] = []  # AccumulateGrad nodes, with their leaves
        self.nodes: list[tuple[int, str, Any]] = []
        self.whole = True
        self.take_lines(lines)
        self._walk(root)

    def take_lines(self, lines: list[tuple[int, Place | None]]) -> None:
        """The lines that created nodes, by the numbers of the nodes."""
        self._lines = sorted(lines, key=lambda pair: pair[0])
        self._numbers = [number for number, _ in self._lines]

    def _walk(self, root: Any) -> None:
        seen, queue = {root}, [root]
        for node in queue:
            if len(queue) > LARGEST:
                self.whole = False
                break
            variable = getattr(node, "variable", None)
            if variable is not None and not node.next_functions:
                self.leaves[id(variable)] = variable
                self.accumulators.append((node, variable))
                continue
            self.nodes.append((self.library.seq_of(node), op_of_node(node), node))
            for following, _ in node.next_functions:
                if following is not None and following not in seen:
                    seen.add(following)
                    queue.append(following)
        self.nodes.sort(key=lambda row: row[0])

    def module_of(self, number: int) -> Call | None:
        """The innermost call of a module in which a node was created."""
        inside = [call for call in self.calls if call.start <= number < call.end]
        return min(inside, key=lambda call: call.end - call.start) if inside else None

    def line_of(self, number: int) -> Place | None:
        """The line that created a node, in a step that was watched op by op. A node inside a function has the
        line of the node that the function returned."""
        index = bisect.bisect_left(self._numbers, number)
        return self._lines[index][1] if index < len(self._numbers) else None

    # ── the loss

    def loss(self, root: Any) -> LossFacts:
        """How the loss was computed, from its root downwards."""
        facts, node = LossFacts(), root
        for _ in range(12):
            op = op_of_node(node)
            if op in LOSSES:
                facts.op = op
                facts.line = self.line_of(self.library.seq_of(node))
                self._given(facts, node)
                break
            if op == "neg":
                facts.negated = not facts.negated
            elif op not in REDUCTIONS and op not in VIEWS:
                break
            following = [each for each, _ in node.next_functions if each is not None]
            inner = [each for each in following if op_of_node(each) in (*LOSSES, *REDUCTIONS, "neg", *VIEWS)]
            if not inner:
                break
            node = next((each for each in inner if op_of_node(each) in LOSSES), inner[0])
        return facts

    def _given(self, facts: LossFacts, node: Any) -> None:
        before = through_views(node)
        facts.before = op_of_node(before) if before is not None else ""
        target = getattr(node, "_saved_target", None)
        if facts.op.startswith("nll_loss"):
            scores = getattr(node, "_saved_self", None)
            if facts.before == "log_softmax":
                dim = getattr(before, "_saved_dim", None)
                result = before._saved_result
                facts.over_batch = dim == 0 and result.ndim == 2
                facts.labels = int(result.shape[-1])
                facts.softmax_place = self.line_of(self.library.seq_of(before))
                before = through_views(before)
                facts.before = op_of_node(before) if before is not None else ""
                facts.of_linear = facts.before in ("addmm", "mm", "linear", "add")
            elif scores is not None:
                facts.raw_scores = float(scores.max().item()) > 0
            if target is not None and target.numel() >= 8:
                facts.targets = {float(target.min().item()), float(target.max().item())}
        elif target is not None and facts.before in ("relu", "clamp_min", "threshold"):
            facts.negative_targets = float((target < 0).float().mean().item()) > 0.05
        if before is not None:
            facts.before_place = self.line_of(self.library.seq_of(before))
            if facts.before in ("relu", "clamp_min"):
                result = getattr(before, "_saved_result", None)
                if result is not None:
                    facts.before_zeros = float((result == 0).float().mean().item())

    # ── activations

    def activations(self, evidence: Evidence, step: int, last: Any) -> None:
        """Measure the activation functions: units that are dead, elements where the curve is flat."""
        count: dict[str, int] = {}
        for number, op, node in self.nodes:
            kind = CURVES.get(op)
            result = getattr(node, "_saved_result", None) if kind else None
            if kind is None or result is None or result.ndim < 2:
                continue
            call = self.module_of(number)
            base = call.name if call is not None else ""
            count[f"{base} {op}"] = count.get(f"{base} {op}", 0) + 1
            turn = count[f"{base} {op}"]
            name = f"{base} {op}".strip() if turn == 1 else f"{base} {op} {turn}".strip()
            facts = evidence.activations.get(name)
            if facts is None:
                if len(evidence.activations) >= 400:
                    continue
                facts = evidence.activations[name] = ActivationFacts(name, kind)
            facts.place = facts.place or self.line_of(number)
            facts.last = facts.last or node is last
            if kind == "dead":
                self._dead(facts, result, step)
            elif op == "tanh":
                facts.samples.add((step, float((result * result > 0.99).float().mean().item())))
            elif op == "sigmoid":
                facts.samples.add((step, float((result * (1 - result) < 0.01).float().mean().item())))

    @staticmethod
    def _dead(facts: ActivationFacts, result: Any, step: int) -> None:
        """Count for how many steps each unit has given only zeros; half a run or ten steps make it dead."""
        axis = 1 if result.ndim == 4 else result.ndim - 1
        others = tuple(i for i in range(result.ndim) if i != axis)
        silent = ((result != 0).float().sum(dim=others) == 0).float()
        if facts.runs is None or facts.runs.shape != silent.shape:
            facts.runs = silent
        else:
            facts.runs = (facts.runs + 1) * silent
        facts.units = int(silent.numel())
        share = float(silent.mean().item())
        facts.samples.add((step, share))
        if share > 0.5 and not facts.since:
            facts.since = step
        elif share <= 0.5:
            facts.since = 0

    # ── the first value that is not finite

    def first_not_finite(self, step: int, names: dict[int, str]) -> NotFinite:
        """Where the first such value is, going through the saved values in the order of the run."""
        for key, leaf in self.leaves.items():
            if not finite(leaf.detach()):
                return NotFinite(step, "weight", "", names.get(key, ""), None, "")
        for number, op, node in self.nodes:
            call = self.module_of(number)
            name = call.name if call else ""
            for label in ("_saved_self", "_saved_input", "_saved_mat1", "_saved_other"):
                given = saved_value_of(node, label)
                if given is None or not hasattr(given, "dtype") or finite(given):
                    continue
                first = [each for each, _ in node.next_functions if each is not None]
                made_by = max(first, key=self.library.seq_of, default=None) if first else None
                if made_by is None or getattr(made_by, "variable", None) is not None:
                    return NotFinite(step, "input", op, name, self.line_of(number), "")
                return self._found(step, made_by)
            given, result = saved_value_of(node, "_saved_self"), saved_value_of(node, "_saved_result")
            risky = op in RISKY and given is not None and hasattr(given, "dtype") and outside(op, given)
            if risky or (result is not None and hasattr(result, "dtype") and not finite(result)):
                took = smallest_and_largest(given) if given is not None and hasattr(given, "dtype") else ""
                return NotFinite(step, "forward", op, name, self.line_of(number), took)
        number, op, _ = self.nodes[-1]
        return NotFinite(step, "forward", op, "", self.line_of(number), "")

    def _found(self, step: int, node: Any) -> NotFinite:
        number, op = self.library.seq_of(node), op_of_node(node)
        call, given = self.module_of(number), saved_value_of(node, "_saved_self")
        took = smallest_and_largest(given) if given is not None and hasattr(given, "dtype") else ""
        return NotFinite(step, "forward", op, call.name if call else "", self.line_of(number), took)

    def infinite_slopes(self, step: int) -> NotFinite | None:
        """An op whose derivative is infinite at a value that it was given: a root or a norm at 0."""
        for number, op, node in self.nodes:
            value = None
            if op in STEEP:
                value = saved_value_of(node, "_saved_result")
            elif op == "log" or (op == "pow" and is_root(getattr(node, "_saved_exponent", None))):
                value = saved_value_of(node, "_saved_self")
            if value is not None and float(value.abs().min().item()) == 0:
                call = self.module_of(number)
                return NotFinite(step, "backward", op, call.name if call else "", self.line_of(number), "0")
        return None


def through_views(node: Any) -> Any:
    """What computed the input of a node, past views and shapes."""
    for _ in range(12):
        following = [each for each, _ in node.next_functions if each is not None]
        if not following:
            return None
        node = following[0]
        if op_of_node(node) not in VIEWS:
            return node if getattr(node, "variable", None) is None else None
    return None


def is_root(exponent: Any) -> bool:
    """Whether a power has an infinite derivative at 0."""
    return isinstance(exponent, float | int) and exponent < 1


def saved_value_of(node: Any, label: str) -> Any:
    """A saved value; None where there is none or it is gone."""
    try:
        return getattr(node, label, None)
    except RuntimeError:  # freed, or packed by a hook that cannot give it back
        return None


def finite(tensor: Any) -> bool:
    """Whether all numbers of a tensor are finite; its sum may overflow only if they nearly do."""
    if not tensor.dtype.is_floating_point or not tensor.numel():
        return True
    total = float(tensor.float().abs().max().item())
    return math.isfinite(total)


def outside(op: str, given: Any) -> bool:
    """Whether a function gives no finite number at one of its inputs."""
    low = float(given.min().item())
    if op in ("log", "log2", "log10"):
        return low <= 0
    if op in ("sqrt", "rsqrt"):
        return low < 0
    return op == "reciprocal" and float(given.abs().min().item()) == 0


def smallest_and_largest(tensor: Any) -> str:
    """The range of a tensor's numbers, in words."""
    ends = [f"{float(each.item()):.4g}" for each in (tensor.min(), tensor.max())] if tensor.numel() else []
    return " … ".join(dict.fromkeys(ends))
