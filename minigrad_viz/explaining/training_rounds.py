"""Notes about training loops whose recorded rounds show a mistake: gradients clipped too late or too early,
a softmax over the batch, a loss that grows because of its sign, graphs that are kept, gradients of two losses
that mix, targets that require gradients.

Note [Rounds in a graph]
~~~~~~~~~~~~~~~~~~~~~~~~
A round ends with a backward call. A result knows the rounds in which ops of its graph ran. One that was
computed in several, though the graphs of the earlier ones are freed, is kept by mistake: no backward call can
go through it. A root whose rounds become more with each call leads through all earlier rounds again. A graph
that several calls share, as that of an encoder below two heads, belongs to one round more and does not grow.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from ..model.grad_ledger import is_zero
from ..model.provenance import by_number, op_behind, upstream
from ..model.scene import Scenes
from ..number_text import number
from ..protocol import Value, finite
from ..trace.events import (
    BackwardEnded,
    BackwardStarted,
    Forward,
    GradAccumulated,
    GradSet,
    InPlaceWrite,
    ModuleCalled,
    OptimizerStepped,
    TensorCreated,
    TensorDetached,
)
from ..trace.graph import Explanation
from ..trace.source_positions import Span
from ..trace.statements import blocks
from .case import Case, Values
from .edits import constructor, quote, rewritten
from .lost_paths import reads
from .missed_updates import COMPARED, MEASURES, ROUNDS, comparisons, computed_targets, written_tensors
from .model_faults import equal_units, evaluation_mode, layers_made_anew
from .syntax import last_name, node_at, span_at, statement_around

GROWING = 3  # rounds in one graph before it counts as kept
CLIPPING = ("clip_grad_norm_", "clip_grad_value_")
REDUCED = ("mean", "mean_all", "sum", "sum_all")
CHOICES = ("getitem", "index", "gather")  # of the scores of the right classes
PICKED = ("nll_loss", "nll_loss_forward", "cross_entropy")


def training_notes(scenes: Scenes, lang: str | None = None) -> Iterator[Explanation]:
    """The notes about a cell that did not fail."""
    started = scenes.index.started
    if scenes.trace.error or not started:
        return
    case = Case(scenes, started[-1].call, started[-1].span, lang)
    for rule in (
        clipped_late, clipped_early, over_batch, ascent, ascent_by_hand, kept_graphs, mixed_losses,
        layers_made_anew, equal_units, evaluation_mode, learning_targets,
    ):  # fmt: skip
        yield from rule(case)


def optimizer_steps(case: Case) -> list[OptimizerStepped]:
    """The steps of optimizers."""
    return [*case.trace.of(OptimizerStepped)]


def is_clipping(call: ast.AST | None) -> bool:
    """Whether a call clips gradients."""
    return isinstance(call, ast.Call) and last_name(call) in CLIPPING


# ── clipping ────────────────────────────────────────────────────────────────────────────────────────────────


def clipped_late(case: Case) -> Iterator[Explanation]:
    """All that a call clipped had been used by a step before, and was reset before the next."""
    used = set[str]()
    late: dict[Span, int] = {}
    useful = set[Span]()
    step: dict[Span, Span | None] = {}
    last: Span | None = None
    for event in case.trace.events:
        match event:
            case GradAccumulated():
                used.discard(event.tensor)
            case OptimizerStepped():
                used |= {row.tensor for row in event.rows}
                last = event.span
            case GradSet(how="written", span=Span() as span):
                if not is_clipping(node_at(case, span)):
                    continue
                if event.tensor in used:
                    late[span] = late.get(span, 0) + 1
                    step[span] = last
                else:
                    useful.add(span)
    for span, count in late.items():
        if span not in useful and count >= ROUNDS and reset_before_use(case, span):
            values: Values = {"place": span, "step": step[span]}
            yield case.note("clip_late", cause=span, of_cell=True, **values)


def reset_before_use(case: Case, span: Span) -> bool:
    """Whether gradients that a call clipped were never used by a step, nor added to."""
    clipped, used = set[str](), set[str]()
    for event in case.trace.events:
        match event:
            case GradSet(how="written") if event.span == span:
                clipped.add(event.tensor)
            case GradSet() if event.after is None or is_zero(event.after):
                clipped.discard(event.tensor)
            case GradAccumulated():
                used |= clipped & {event.tensor}
            case OptimizerStepped():
                used |= clipped & {row.tensor for row in event.rows}
    return not used


def clipped_early(case: Case) -> Iterator[Explanation]:
    """A call between reset and backward of a training step clips gradients, and changed none."""
    written = {event.span for event in case.trace.of(GradSet) if event.how == "written"}
    for block in (block for part in case.executed(ast.AST) for block in blocks(part)):
        calls = [each.value for each in block if isinstance(each, ast.Expr) and case.ran(each)]
        order = {last_name(call): call for call in calls if isinstance(call, ast.Call)}
        clip = next((order[name] for name in CLIPPING if name in order), None)
        if clip is None or not {"zero_grad", "backward", "step"} <= order.keys():
            continue
        lines = [order[name].lineno for name in ["zero_grad", "backward", "step"]]
        place = span_at(case, clip)
        if lines[0] < clip.lineno < lines[1] < lines[2] and place not in written and optimizer_steps(case):
            values: Values = {"place": place, "backward": span_at(case, order["backward"])}
            yield case.note("clip_early", cause=place, of_cell=True, **values)


# ── losses ──────────────────────────────────────────────────────────────────────────────────────────────────


def over_batch(case: Case) -> Iterator[Explanation]:
    """A loss of classes was given what a softmax along the dimension of the samples computed, or numbers were
    chosen of each sample for one."""
    born, seen = case.scene.index.births, set[Span | None]()
    for event in case.trace.of(Forward):
        if (event.op not in PICKED and not is_choice(case, event)) or not event.read:
            continue
        log = op_behind(born, event.read[0], "log")
        given = log.read[0] if log is not None and log.read else event.read[0]
        source = op_behind(born, given, "softmax", "log_softmax")
        if source is None or source.span in seen:
            continue
        result = source.outputs[0].value
        along = [text for text in source.arguments if text is not None]
        if (
            result is None
            or len(result.shape) != 2
            or result.shape[0] < 2
            or along[:1] not in (["0"], ["-2"])
        ):
            continue
        seen.add(source.span)
        n, classes = result.shape
        values: Values = {
            "place": source.span,
            "n": n,
            "classes": classes,
            "code": along_classes(case, source, along[0]),
        }
        yield case.note("softmax_batch", cause=source.span, of_cell=True, **values)


def is_choice(case: Case, event: Forward) -> bool:
    """Whether an op chooses one number in each row of a matrix: `p[torch.arange(n), y]`,
    `p.gather(1, y)`."""
    values = [None if (state := case.made(id)) is None else state.value for id in event.read]
    if event.op not in CHOICES or None in values or not values:
        return False
    table, *indices = (value for value in values if value is not None)
    if len(table.shape) != 2 or not all(index.dtype == "int64" for index in indices):
        return False
    if event.op == "gather":
        return [text for text in event.arguments if text][:1] == ["1"]
    rows = tuple(float(k) for k in range(table.shape[0]))
    return len(indices) == 2 and indices[0].items == rows and indices[1].shape == (len(rows),)


def along_classes(case: Case, source: Forward, dim: str) -> str | None:
    """The statement with the softmax along dimension 1; None where that cannot be said."""
    layer = case.scene.index.module_calls.at(case.scene.index.times[id(source)])
    made = None if layer is None else constructor(case, layer.event.kind, layer.event.path, ())
    call = node_at(case, source.span) if made is None else made.call
    if not isinstance(call, ast.Call):
        return None
    given = [each.value for each in call.keywords if each.arg == "dim"] or call.args[-1:]
    return rewritten(case, call, {given[0]: "1"}) if given and ast.unparse(given[0]) == dim else None


def ascent(case: Case) -> Iterator[Explanation]:
    """The root is the negative of a loss that compares with targets, and the loss grew while the only
    optimizer moved the parameters of modules."""
    born, index = case.scene.index.births, case.scene.index
    steps = optimizer_steps(case)
    modules = {id for e in case.trace.of(ModuleCalled) for _, id in e.parameters}
    moved = {row.tensor for event in steps for row in event.rows}
    if len(steps) < ROUNDS or len({event.span for event in steps}) != 1 or not moved or not moved <= modules:
        return
    if any(("maximize", 1.0) in row.settings for event in steps for row in event.rows):
        return
    values, negative = list[float](), None
    for started in index.started:
        root = op_behind(born, started.roots[0]) if len(started.roots) == 1 else None
        negated = root is not None and is_negation(root)
        loss = op_behind(born, root.read[0]) if root is not None and negated else root
        if (
            root is None
            or loss is None
            or not (compares(case, loss) if negated else is_likelihood(case, loss))
        ):
            return
        size = finite(loss.outputs[0].value)
        if size is None:
            return
        values.append(size)
        negative = root
    if negative is None or len(values) < ROUNDS or values[-1] == values[0]:
        return
    likelihood = not is_negation(negative)
    if (values[-1] > values[0]) == likelihood:
        return
    first, last = (number(values[i], "float32", 4) for i in (0, -1))
    told: Values = {"place": negative.span, "first": first, "last": last}
    why = "ascent_likelihood" if likelihood else "ascent"
    yield case.note("ascent", why, cause=negative.span, of_cell=True, **told)


def is_negation(event: Forward) -> bool:
    """Whether an op gives the negative of its input: `-x`, `-1 * x`, `0 - x`."""
    constants = [text for text in event.arguments if text is not None]
    if event.op == "neg":
        return True
    expected = {"mul": ("-1", "-1.0"), "rsub": ("0", "0.0")}.get(event.op, ())
    return len(event.read) == 1 and len(constants) == 1 and constants[0] in expected


def is_likelihood(case: Case, loss: Forward) -> bool:
    """Whether an op gave the mean or sum of the logarithms of the probabilities of the right classes."""
    born = case.scene.index.births
    chosen = op_behind(born, loss.read[0], *CHOICES) if loss.op in REDUCED and loss.read else None
    if chosen is None or not is_choice(case, chosen):
        return False
    return op_behind(born, chosen.read[0], "log_softmax") is not None


def ascent_by_hand(case: Case) -> Iterator[Explanation]:
    """Each round added a positive multiple of its gradient to every tensor that got one, and the loss, which
    compares with targets, grew."""
    roots = [case.scene.index.births.get(started.roots[0]) for started in case.scene.index.started]
    values = [
        finite(root.outputs[0].value) for root in roots if isinstance(root, Forward) and compares(case, root)
    ]
    first, last = (values[0], values[-1]) if len(values) == len(roots) >= ROUNDS else (None, None)
    if first is None or last is None or last <= first or optimizer_steps(case):
        return
    now: dict[str, Value | None] = {}
    gradients: dict[str, Value] = {}
    alias: dict[str, str] = {}
    climbs: dict[str, list[Span | None]] = defaultdict(list)
    for event in case.trace.events:
        if isinstance(event, GradAccumulated):
            gradients[event.tensor] = event.after
        elif isinstance(event, TensorDetached):
            alias[event.tensor.id] = alias.get(event.source, event.source)
        if isinstance(event, InPlaceWrite):
            leaf = alias.get(event.before, event.before)
            if leaf in gradients:
                if not is_climb(now.get(event.before), event.tensor.value, gradients[leaf]):
                    return
                climbs[leaf].append(event.span)
        for state in event.made:
            now[state.id] = state.value
        if isinstance(event, InPlaceWrite):
            now[event.before] = event.tensor.value
    if (
        climbs
        and climbs.keys() == gradients.keys()
        and all(len(spans) >= ROUNDS for spans in climbs.values())
    ):
        span = next(iter(climbs.values()))[-1]
        told: Values = {"place": span, "first": number(first, digits=4), "last": number(last, digits=4)}
        yield case.note(
            "ascent", "ascent_by_hand", cause=span, of_cell=True, code=subtraction(case, span), **told
        )


def is_climb(before: Value | None, after: Value | None, gradient: Value) -> bool:
    """Whether a positive multiple of a gradient was added to the elements of a tensor."""
    if before is None or after is None or None in (before.items, after.items, gradient.items):
        return False
    pairs = zip(before.items or (), after.items or (), gradient.items or (), strict=True)
    ratios = [(new - old) / g for old, new, g in pairs if abs(g) > 1e-12 and new != old]
    return bool(ratios) and min(ratios) > 0 and max(ratios) <= 1.1 * min(ratios)


def subtraction(case: Case, span: Span | None) -> str | None:
    """The statement `w += …` with a minus; None for any other."""
    tree = statement_around(case, span)
    if not isinstance(tree, ast.AugAssign) or not isinstance(tree.op, ast.Add):
        return None
    return quote(f"{ast.unparse(tree.target)} -= {ast.unparse(tree.value)}")


def compares(case: Case, loss: Forward) -> bool:
    """Whether the result of an op is a loss: of a loss function, or the mean or sum of squares of a
    difference."""
    if loss.op in COMPARED or loss.op.startswith("nll_loss"):
        return True
    born = case.scene.index.births
    power = op_behind(born, loss.read[0], *MEASURES) if loss.op in REDUCED and loss.read else None
    return power is not None and bool(power.read) and op_behind(born, power.read[0], "sub") is not None


def learning_targets(case: Case) -> Iterator[Explanation]:
    """The target of a loss is a leaf that got gradients in the rounds of a training, although nothing reads
    them or moves it; or it was computed from such leaves."""
    born, changed = case.scene.index.births, written_tensors(case)
    rounds = Counter(event.tensor for event in case.trace.of(GradAccumulated))
    used = {event.gradient_of for event in case.trace.of(TensorCreated) if event.gradient_of}
    idle = {id for id in rounds if rounds[id] >= ROUNDS and id not in changed | used}
    for event, prediction, target in comparisons(case) if changed & rounds.keys() else ():
        state, made = case.made(target), born.get(target)
        data = state is not None and state.is_leaf and not state.parameter and isinstance(made, TensorCreated)
        if target in idle and data and prediction not in rounds and case.scene.asks(prediction):
            values: Values = {"name": case.plain(target), "place": event.span, "made": made and made.span}
            values["code"] = created_without_gradients(case, made.span if made else None)
            yield case.note("learning_target", cause=values["made"], of_cell=True, **values)
            return
    for event, target, leaves in computed_targets(case):
        values = {"name": case.plain(target), "place": event.span, "names": case.names(by_number(leaves))}
        yield case.note("learning_target", "target_computed", cause=event.span, of_cell=True, **values)
        return


def created_without_gradients(case: Case, span: Span | None) -> str | None:
    """The statement that created a tensor, without `requires_grad=True`."""
    call = node_at(case, span)
    if not isinstance(call, ast.Call) or not any(each.arg == "requires_grad" for each in call.keywords):
        return None
    options = [each for each in call.keywords if each.arg != "requires_grad"]
    return rewritten(case, call, {call: ast.unparse(ast.Call(call.func, call.args, options))})


# ── graphs ──────────────────────────────────────────────────────────────────────────────────────────────────


Rounds = frozenset[int]


def rounds_of_graphs(case: Case) -> tuple[dict[str, Rounds], list[tuple[BackwardStarted, Rounds]]]:
    """The rounds in which the graph of each result was computed, in the end; and those of the roots of the
    calls. See Note [Rounds in a graph]."""
    found: dict[str, Rounds] = {}
    roots = []
    ended, none = 0, Rounds()
    for event in case.trace.events:
        match event:
            case Forward():
                asking = [state.id for state in event.outputs if state.requires_grad]
                if asking:
                    known = none.union(*(found.get(id, none) for id in event.read)) | {ended}
                    found |= dict.fromkeys(asking, known)
            case InPlaceWrite(tensor=state) if state.requires_grad and not state.is_leaf:
                read = filter(None, (event.before, *event.inputs))
                found[state.id] = none.union(*(found.get(each, none) for each in read)) | {ended}
            case InPlaceWrite(tensor=state):
                found.pop(state.id, None)
            case BackwardStarted(kind="backward"):
                roots.append((event, none.union(*(found.get(id, none) for id in event.roots))))
            case BackwardEnded():
                started = case.scene.index.calls[event.call].started
                ended += started is not None and started.kind == "backward" and not started.create_graph
    return found, roots


def kept_graphs(case: Case) -> Iterator[Explanation]:
    """A variable holds the graphs of earlier rounds, through which no call went; or each call goes through
    all earlier rounds again."""
    found, roots = rounds_of_graphs(case)
    sizes = [len(rounds) for _, rounds in roots]
    if len(sizes) > GROWING and all(a < b for a, b in pairwise(sizes)):
        started = roots[-1][0]
        values: Values = {"backward": started.span, "n": sizes[-1]}
        yield case.note("graph_growth", cause=started.span, of_cell=True, **values)
        return
    used = {id for event, _ in roots for id in event.roots}
    for id, name in case.trace.names:
        rounds, state = found.get(id, Rounds()), case.made(id)
        if len(rounds) < GROWING or id in used or state is None or not state.requires_grad:
            continue
        span = last_span(case, id)
        values = {"name": name, "n": min(len(rounds), len(roots)), "place": span}
        yield case.note("graph_kept", cause=span, of_cell=True, **values)
        return
    yield from [*kept_losses(case, roots)] or unnamed_graphs(case, found, roots)


def unnamed_graphs(
    case: Case, found: dict[str, Rounds], roots: list[tuple[BackwardStarted, Rounds]]
) -> Iterator[Explanation]:
    """A result of several rounds that no variable itself holds, and through which no call went: the elements
    of a list that each round computes from those of the round before."""
    born = case.scene.index.births
    used = {id for id, _ in upstream(born, [id for event, _ in roots for id in event.roots])}
    for event in reversed(case.trace.of(Forward)):
        tree = statement_around(case, event.span) if event.span is not None else None
        kept = [id for id in (state.id for state in event.outputs) if len(found.get(id, ())) >= GROWING]
        if not kept or kept[0] in used or not isinstance(tree, ast.Assign) or not case.in_loop(event.span):
            continue
        name, rounds = ast.unparse(tree.targets[0]), found[kept[0]]
        if reads(tree.value, name):
            values: Values = {"name": name, "n": min(len(rounds), len(roots)), "place": event.span}
            yield case.note("graph_kept", cause=event.span, of_cell=True, **values)
            return


def last_span(case: Case, tensor: str) -> Span | None:
    """Where a tensor was computed, or last written to."""
    found = None
    for event in case.trace.of(Forward, InPlaceWrite):
        written = [] if isinstance(event, Forward) else [event.tensor]
        found = event.span if any(state.id == tensor for state in (*event.made, *written)) else found
    return found


def kept_losses(case: Case, roots: list[tuple[BackwardStarted, Rounds]]) -> Iterator[Explanation]:
    """Each loss of a loop is appended to a list, with its graph, and nothing but numbers is read of them."""
    names = {name for id, name in case.trace.names if any(id in event.roots for event, _ in roots)}
    loops: list[ast.For | ast.While] = [*case.executed(ast.For), *case.executed(ast.While)]
    for loop in loops:
        for part in loop.body:
            call = part.value if isinstance(part, ast.Expr) else None
            if not isinstance(call, ast.Call) or last_name(call) != "append" or len(call.args) != 1:
                continue
            given = call.args[0]
            if not isinstance(given, ast.Name) or given.id not in names or not case.ran(part):
                continue
            inside = [each for each, _ in roots if each.span is not None and case.in_loop(each.span)]
            if len(inside) < GROWING or not isinstance(call.func, ast.Attribute):
                continue
            place, holder = span_at(case, part), ast.unparse(call.func.value)
            code = quote(f"{holder}.append({given.id}.item())")
            values: Values = {"place": place, "name": holder, "n": len(inside), "code": code}
            yield case.note("graph_kept", "loss_kept", cause=place, of_cell=True, **values)
            return


# ── two losses ──────────────────────────────────────────────────────────────────────────────────────────────


def mixed_losses(case: Case) -> Iterator[Explanation]:
    """A step used the sum of gradients of two losses, of which the first was that of another optimizer: the
    second goes through the parameters of both, so it is another one's aim."""
    calls: dict[str, list[int]] = defaultdict(list)  # the calls whose gradients are not used yet
    reached: dict[int, set[str]] = defaultdict(set)
    stepped: dict[int, OptimizerStepped] = {}  # the first step after a call
    open_calls: list[int] = []
    for event in case.trace.events:
        match event:
            case GradAccumulated():
                calls[event.tensor].append(event.call)
                reached[event.call].add(event.tensor)
            case GradSet() if event.after is None or is_zero(event.after):
                calls.pop(event.tensor, None)
            case BackwardStarted():
                open_calls.append(event.call)
            case OptimizerStepped():
                own = {row.tensor for row in event.rows}
                for id in by_number(own):
                    given = list(dict.fromkeys(calls.get(id, ())))
                    first = stepped.get(given[0]) if len(given) > 1 else None
                    others = set() if first is None else {row.tensor for row in first.rows}
                    if first is None or others & own or not others <= reached[given[0]] & reached[given[-1]]:
                        continue
                    yield note_of_mixing(case, event, first, given, own)
                    return
                for call in open_calls:
                    stepped.setdefault(call, event)
                open_calls = []
                for id in own:
                    calls.pop(id, None)


def note_of_mixing(
    case: Case, event: OptimizerStepped, first: OptimizerStepped, given: list[int], own: set[str]
) -> Explanation:
    """The note about a step that used gradients of two losses."""
    spans = [case.scene.index.calls[call].started for call in (given[0], given[-1])]
    values: Values = {"names": case.names(by_number(own)), "other": first.span, "step": event.span}
    values |= {
        key: None if each is None else each.span for key, each in zip(("first", "second"), spans, strict=True)
    }
    return case.note("mixed_losses", cause=values["first"], of_cell=True, **values)
