"""Fixes as code: the lines of the user's file that cure a fault.

A repair is made of the line that a finding names, by its syntax tree, and of what the run has shown: the
optimizer that steps, a learning rate that would fit. Where a line cannot be read, or is not what the fault's
usual line looks like, there is none; the sentence remains. tests/doctor applies each one to its program and
runs it again.
"""

from __future__ import annotations

import ast
import linecache
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator

from .evidence import Evidence, OptimizerFacts, Place
from .findings import Finding, Repair, plain

USUAL = 1e-3  # update ÷ weight
LONGEST = 8  # lines of a block that is put in another order


class Line:
    """A statement that fills a line of a file."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.full = linecache.getline(place.file, place.line).rstrip("\n")
        self.text = self.full.strip()
        self.indent = self.full[: len(self.full) - len(self.full.lstrip())]
        self.tree = syntax_of(self.text)

    def calls(self, *names: str) -> list[ast.Call]:
        """The calls of functions or methods with these names."""
        nodes = [] if self.tree is None else list(ast.walk(self.tree))
        return [each for each in nodes if isinstance(each, ast.Call) and last_name(each.func) in names]

    def source(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.text, node) or ""

    def replaced(self, node: ast.expr, by: str) -> str:
        """The statement with another text instead of a part of it."""
        data = self.text.encode()
        return (data[: node.col_offset] + by.encode() + data[node.end_col_offset :]).decode()

    def becomes(self, *statements: str) -> Repair:
        """The repair that puts other statements here."""
        new = tuple(self.indent + each for each in statements)
        return Repair(self.place.file, self.place.line, self.place.line, new)


def syntax_of(text: str) -> ast.Module | None:
    """The syntax tree of a statement; None where it is not a whole one."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def last_name(node: ast.AST) -> str:
    """`softmax` of `F.softmax`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def repair_of(e: Evidence, finding: Finding) -> Repair | None:
    """The repair of a fault; None where only words say what to do."""
    made = REPAIRS.get(finding.key)
    if made is None or finding.place is None or not finding.place.text:
        return None
    found = made(e, finding, Line(finding.place))
    if found is None or syntax_of(textwrap.dedent("\n".join(found.new)) or "pass") is None:
        return None
    return found


# ─── The order of a step


def stepper(e: Evidence, finding: Finding) -> OptimizerFacts | None:
    """The optimizer that steps; of several the one that the finding's line belongs to."""
    found = [o for o in e.optimizers if o.steps]
    if len(found) > 1:
        places = ((o, (o.place, o.mixed_place, o.reset_place, o.step_place)) for o in found)
        found = [o for o, lines in places if finding.place in lines]
    return found[0] if len(found) == 1 else None


def optimizer_variable(o: OptimizerFacts | None) -> str:
    """The variable of an optimizer, by the line of its step or of its creation; "" where no line shows it."""
    if o is None:
        return ""
    if o.step_place is not None and (found := re.search(r"([\w.]+)\.step\(", o.step_place.text)):
        return found[1]
    found = re.match(r"([\w.]+)\s*=[^=]", o.place.text) if o.place is not None else None
    return found[1] if found else ""


def reset_first(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    name = optimizer_variable(stepper(e, finding))
    return line.becomes(f"{name}.zero_grad()", line.text) if name else None


def step_after(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    idle = [o for o in e.optimizers if not o.steps and o.keys]
    name = optimizer_variable(idle[0]) if len(idle) == 1 else ""
    return line.becomes(line.text, f"{name}.step()") if name else None


def statements_in(places: Iterable[Place | None]) -> Repair | None:
    """Statements of one block in the order in which they are given; what is between them is removed first."""
    given = [place for place in places if place is not None]
    lines = sorted({place.line for place in given})
    if len(lines) < 2 or len({place.file for place in given}) > 1 or lines[-1] - lines[0] >= LONGEST:
        return None
    block = [Line(Place(given[0].file, number)) for number in range(lines[0], lines[-1] + 1)]
    if len({each.indent for each in block if each.text}) > 1 or any(each.tree is None for each in block):
        return None
    moved = [next(each for each in block if each.place == place) for place in dict.fromkeys(given)]
    others = [each for each in block if each not in moved]
    new = tuple(each.full for each in (*others, *moved))
    return Repair(given[0].file, lines[0], lines[-1], new)


def usual_order(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    o = stepper(e, finding)
    return None if o is None else statements_in((o.reset_place, o.backward_place, o.step_place))


def clip_between(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    o = stepper(e, finding)
    return None if o is None else statements_in((o.backward_place, finding.place, o.step_place))


def schedule_last(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    o = stepper(e, finding)
    return (
        None if o is None else statements_in((o.reset_place, o.backward_place, o.step_place, finding.place))
    )


# ─── What the optimizer holds


def whole_model(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    """The optimizer gets the parameters of the model that is trained."""
    if finding.words == "doctor_stale_optimizer":
        return None
    root = finding.subject.partition(".")[0]
    made = [each for each in line.calls(*(o.kind for o in e.optimizers)) if each.args]
    if not made or not root.isidentifier():
        return None
    return line.becomes(line.replaced(made[0].args[0], f"{root}.parameters()"))


def module_list(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    value = line.tree.body[0].value if line.tree and isinstance(line.tree.body[0], ast.Assign) else None
    kinds = {ast.List: "ModuleList", ast.ListComp: "ModuleList", ast.Dict: "ModuleDict"}
    kind = kinds.get(type(value))
    if value is None or kind is None:
        return None
    return line.becomes(line.replaced(value, f"nn.{kind}({line.source(value)})"))


# ─── Paths that are cut


def without_cut(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    """The line without what cuts the path."""
    if finding.words in ("doctor_cut_detach", "doctor_cut_data"):
        shorter = re.sub(r"\.detach\(\)|\.data\b", "", line.text, count=1)
        return line.becomes(shorter) if shorter != line.text else None
    if finding.words == "doctor_cut_no_grad" and line.text.startswith("with "):
        return without_head(line)
    if finding.words in ("doctor_cut_item", "doctor_cut_numpy", "doctor_cut_tensor"):
        return without_copy(line)
    return None


def without_head(line: Line) -> Repair | None:
    """A block without the `with` above it."""
    body: list[str] = []
    number = line.place.line
    while True:
        following = linecache.getline(line.place.file, number + 1).rstrip("\n")
        if following.strip() and not following.startswith(line.indent + " "):
            break
        if not following.strip() and (not body or len(body) > 200):
            break
        body.append(following)
        number += 1
    while body and not body[-1].strip():
        body.pop()
    text = textwrap.indent(textwrap.dedent("\n".join(body)), line.indent)
    last = line.place.line + len(body)
    return Repair(line.place.file, line.place.line, last, tuple(text.split("\n"))) if body else None


def without_copy(line: Line) -> Repair | None:
    """`y = torch.tensor(x.tolist())` becomes `y = x`; of one variable it goes."""
    statement = line.tree.body[0] if line.tree and line.tree.body else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    if (
        last_name(statement.value.func) not in ("tensor", "as_tensor", "from_numpy")
        or not statement.value.args
    ):
        return None
    inner: ast.AST = statement.value.args[0]
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        inner = inner.func.value
    target = statement.targets[0]
    if not isinstance(inner, ast.Name) or not isinstance(target, ast.Name):
        return None
    return line.becomes() if target.id == inner.id else line.becomes(f"{target.id} = {inner.id}")


def without_line(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    """The line goes."""
    return line.becomes() if line.tree is not None else None


def without_freeze(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    return without_line(e, finding, line) if line.calls("requires_grad_") else None


def living_units(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    """A ReLU behind the last layer goes; of others the layers keep their own start."""
    last = any(each.key == "relu_output" for each in finding.follows)
    return (inner_argument("relu") if last else own_start)(e, finding, line)


def own_start(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    """The layers keep the start that they choose themselves."""
    return without_line(e, finding, line) if "init." in line.text else None


# ─── Modes


def train_again(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    calls = line.calls("eval")
    return line.becomes(line.text.replace(".eval()", ".train()", 1)) if calls else None


def evaluate_between(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    name = finding.subject
    fits = name.isidentifier() and line.tree is not None
    return line.becomes(f"{name}.eval()", line.text, f"{name}.train()") if fits else None


# ─── Losses


def inner_argument(*names: str) -> Make:
    """A call of one of these functions gives way to its first argument."""

    def repair(e: Evidence, finding: Finding, line: Line) -> Repair | None:
        for call in line.calls(*names):
            if call.args:
                return line.becomes(line.replaced(call, line.source(call.args[0])))
        return None

    return repair


def cross_entropy(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    for call in line.calls("nll_loss", "NLLLoss"):
        other = "cross_entropy" if last_name(call.func) == "nll_loss" else "CrossEntropyLoss"
        function = line.source(call.func).rpartition(".")[0]
        return line.becomes(line.replaced(call.func, f"{function}.{other}" if function else other))
    return None


def along_classes(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    for call in line.calls("softmax", "log_softmax", "Softmax", "LogSoftmax"):
        along = [each.value for each in call.keywords if each.arg == "dim"] or call.args[-1:]
        if along and line.source(along[0]) == "0":
            return line.becomes(line.replaced(along[0], "1"))
    return None


def descent(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    for call in line.calls("backward"):
        root = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(root, ast.UnaryOp) and isinstance(root.op, ast.USub):
            return line.becomes(line.text.replace(f"({line.source(root)})", line.source(root.operand), 1))
    return None


def equal_shapes(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    """The side with one dimension gets the second one."""
    shapes = [finding.values["a"], finding.values["b"]]
    flat = next((i for i, shape in enumerate(shapes) if shape.endswith(",)")), None)
    for sides in pairs_compared(line):
        if flat is not None:
            return line.becomes(line.replaced(sides[flat], f"{line.source(sides[flat])}.unsqueeze(1)"))
    return None


def pairs_compared(line: Line) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a line compares: two arguments of a loss, or the sides of a difference."""
    for call in line.calls("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        if len(call.args) >= 2:
            yield call.args[0], call.args[1]
    for node in ast.walk(line.tree) if line.tree is not None else ():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            yield node.left, node.right


# ─── Rates


def other_number(line: Line, name: str, value: str) -> Repair | None:
    """The line with another number for a keyword."""
    nodes = [] if line.tree is None else list(ast.walk(line.tree))
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg == name:
            return line.becomes(line.replaced(node.value, value))
    return None


def fitting_rate(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    """A learning rate with which the first step would have moved a weight by a thousandth of its size."""
    o = stepper(e, finding)
    ratios = sorted(
        s.ratio for p in e.weights() for s in p.samples[:1] if math.isfinite(s.ratio) and s.ratio > 0
    )
    if o is None or not o.rates:
        return None
    middle = ratios[len(ratios) // 2] if ratios else math.nan
    rate = o.rates[2] * USUAL / middle if middle > 0 else 0.0
    return other_number(line, "lr", one_digit(rate) if 0 < rate < math.inf else "1e-3")


def one_digit(x: float) -> str:
    """A number with one digit."""
    return plain(float(f"{x:.0e}"))


def small_decay(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    return other_number(line, "weight_decay", "1e-4")


def usual_clip(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    for call in line.calls("clip_grad_norm_"):
        limit = [each.value for each in call.keywords if each.arg == "max_norm"] or call.args[1:2]
        if limit:
            return line.becomes(line.replaced(limit[0], "1.0"))
    return None


# ─── Numbers and memory


def inside_range(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    """The argument of a logarithm or a root stays where it is finite."""
    for call in line.calls("log", "sqrt"):
        name, given = last_name(call.func), call.args[:1]
        module = call.func.value if isinstance(call.func, ast.Attribute) else None
        if not given or not isinstance(module, ast.Name):
            continue
        inner = line.source(given[0])
        other = f"{inner} + 1e-12" if name == "sqrt" else f"{module.id}.clamp({inner}, min=1e-6)"
        return line.becomes(line.replaced(given[0], other))
    return None


def number_only(e: Evidence, finding: Finding, line: Line) -> Repair | None:
    """The number of the loss is kept, not its graph."""
    root = (
        re.match(r"\(?(\w+)\)?\.backward\(", e.backward_place.text) if e.backward_place is not None else None
    )
    for node in ast.walk(line.tree) if root is not None and line.tree is not None else ():
        if isinstance(node, ast.Name) and node.id == root[1] and isinstance(node.ctx, ast.Load):  # type: ignore[index]
            return line.becomes(line.replaced(node, f"{node.id}.item()"))
    return None


Make = Callable[[Evidence, Finding, Line], "Repair | None"]
REPAIRS: dict[str, Make] = {
    "kept_gradient": reset_first,
    "step_too_early": usual_order,
    "reset_too_early": usual_order,
    "no_step": step_after,
    "clip_early": clip_between,
    "clip_late": clip_between,
    "scheduler_order": schedule_last,
    "other_parameters": whole_model,
    "unregistered": module_list,
    "out_of_reach": without_cut,
    "no_grad_fn": without_freeze,
    "eval_left_on": train_again,
    "train_mode": evaluate_between,
    "scores_twice": inner_argument("softmax", "sigmoid"),
    "no_log_softmax": cross_entropy,
    "softmax_batch": along_classes,
    "ascent": descent,
    "relu_output": inner_argument("relu"),
    "broadcast_loss": equal_shapes,
    "lr_zero": fitting_rate,
    "lr_small": fitting_rate,
    "lr_large": fitting_rate,
    "decay_large": small_decay,
    "clip_tiny": usual_clip,
    "seed_in_loop": without_line,
    "equal_units": own_start,
    "dead_unit": living_units,
    "saturated": own_start,
    "exploding": own_start,
    "first_nan": inside_range,
    "graph_kept": number_only,
}
