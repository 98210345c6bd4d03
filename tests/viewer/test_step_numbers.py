"""Every number that a step shows, read back from its text, against the engine."""

from __future__ import annotations

import importlib.util
import random
import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cells import CELLS, run
from reckoning import Range, Unreadable, range_of, read, sides, without_reasons
from tiers import examples

import minigrad
from minigrad_viz.protocol import Value
from minigrad_viz.shell.report import Report
from minigrad_viz.steps.frames import Frame
from minigrad_viz.trace.events import (
    BackwardEnded,
    BackwardStarted,
    GradAccumulated,
    HookRan,
    Inside,
    NodeRan,
    Trace,
)

PROGRAMS = sorted((Path(__file__).parents[1] / "documents" / "programs").glob("*.py"))
RECKONED = ("chain_rule", "vjp", "sum", "paths", "deposit", "broadcast")


def judge() -> Any:
    """Who computes the gradients again: PyTorch where it is installed, else minigrad."""
    return importlib.import_module("torch") if importlib.util.find_spec("torch") else minigrad


# ─────────────────────────────────────────────────────────────────────────────────── cells


FORMS = (
    "{a} * {b}", "{a} + {b}", "{a} - {b}", "{a} * {a}", "{a} ** 2", "{a} ** 3", "-{a}", "torch.tanh({a})",
    "torch.sigmoid({a})", "torch.exp({a} * 0.3)", "{a} / ({b} * {b} + 1)", "torch.sin({a})",
)  # fmt: skip


def straight(seed: int) -> tuple[str, list[str]]:
    """A program without loops and hooks, each result with a name of its own, and these names; `out` is its
    last, a number. Leaves are numbers, vectors of three and matrices of 2×3."""
    choose = random.Random(seed)
    shapes: dict[str, tuple[int, ...]] = {}
    lines = []

    def number() -> float:
        return round(choose.uniform(0.3, 1.9), 4) * choose.choice((1, 1, -1))

    for i in range(choose.randint(1, 3)):
        shape = choose.choice(((), (), (3,), (2, 3)))
        data = np.array([number() for _ in range(int(np.prod(shape)))]).reshape(shape).tolist()
        shapes[f"v{i}"] = shape
        lines.append(f"v{i} = torch.tensor({data}, dtype=torch.float64, requires_grad=True)")
    for i in range(len(shapes), choose.randint(5, 11)):
        a = choose.choice(list(shapes))
        mine = shapes[a]
        b = choose.choice([n for n, s in shapes.items() if s in (mine, ()) or mine == ()])
        forms = list(FORMS)
        if shapes[a]:
            forms += ["{a}.sum()", "{a}.mean()", "{a} @ {v}"]
        form = choose.choice(forms)
        if "{v}" in form:
            vectors = [n for n, s in shapes.items() if s == (3,)]
            if not vectors:
                form = "{a}.sum()"
            else:
                form = form.replace("{v}", choose.choice(vectors))
        lines.append(f"v{i} = " + form.format(a=a, b=b))
        if ".sum" in form or ".mean" in form:
            shapes[f"v{i}"] = ()
        elif "@" in form:
            shapes[f"v{i}"] = shapes[a][:-1]
        else:
            shapes[f"v{i}"] = (
                shapes[a] if "{b}" not in form or len(shapes[a]) >= len(shapes[b]) else shapes[b]
            )
    last = [n for n in shapes if n != "v0"][-2:] or ["v0"]
    lines.append("out = " + " + ".join(f"{n}.sum()" if shapes[n] else n for n in ["v0", *last]))
    return "\n".join(lines) + "\n", [*shapes, "out"]


def gradients(source: str, names: list[str], library: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of all names after a program, and the gradients of `out` with respect to them."""
    space = run(source, library, watched=False).names
    found = library.autograd.grad(space["out"], [space[n] for n in names], allow_unused=True)
    values = {n: np.array(space[n].detach().numpy()) for n in names}
    return values, {n: None if g is None else np.array(g.numpy()) for n, g in zip(names, found)}


# ─────────────────────────────────────────────────────────────────────────────────── reading steps

VALUE = (
    r"(?P<value>\d+(?:×\d+)+|\[\[[^a-df-z]*?\]\]|\[[^\[\]a-df-z]*\]|-?[\d.][\d.e+-]*|nan|-?inf"
    r"|(?:[a-z]+\d+ )?\([^)]*\)(?: rms [-\d.e]+(?:, [±<>≤≥](?: 0)?)?| ≡ [-\d.e+]+)?)"
)
TAKES = re.compile(rf"\S+ at (?P<name>\w+) receives {VALUE} and passes (?P<sent>.*)$")
SENT = re.compile(rf"{VALUE} to (?P<name>\w+)(?=, |$)")
STORES = re.compile(rf"AccumulateGrad (?P<how>stores|adds) {VALUE} (?:in|to) (?P<name>\w+)\.grad")
MAKES = re.compile(rf" computes (?P<name>\w+) = {VALUE}$")


def agrees(text: str, expected: Any) -> bool:
    """Whether a number or an array as a step shows it is `expected`; a mere shape, a root mean square and
    signs must fit."""
    expected = np.asarray(expected)
    if re.fullmatch(r"\d+(×\d+)+", text):
        return text == "×".join(map(str, expected.shape))
    if (
        found := re.fullmatch(r"(?:[a-z]+\d+ )?(\([^)]*\))(?: rms ([^,]+)(?:, (.+))?| ≡ (.+))?", text)
    ) is not None:
        shape, rms, signs, every = found.groups()
        same = every is None or all(range_of(every).meets(Range(value, 0)) for value in expected.flat)
        near = rms is None or float(rms) == pytest.approx(np.sqrt((expected**2).mean()), rel=6e-3)
        low, high = expected.min(), expected.max()
        fits = {
            None: True,
            "±": low < 0 < high,
            "> 0": low > 0,
            "≥ 0": low == 0,
            "< 0": high < 0,
            "≤ 0": high == 0,
        }
        return shape == str(expected.shape) and same and near and fits[signs]
    return any(one.meets(Range(expected, np.zeros(expected.shape))) for one in read(text))


def check(
    told: dict[str, list[str]], expected: dict[str, Any], what: str, without: Collection[str] = ()
) -> int:
    """Every text told of a name against what is expected of it, but for names `without` that; how many there
    were."""
    for name, texts in told.items():
        if name in without:
            continue
        for text in texts:
            assert expected.get(name) is not None, f"{what} {name}: {text} for nothing"
            assert agrees(text, expected[name]), f"{what} {name}: {text} for {expected[name]}"
    return sum(map(len, told.values()))


def told_by(pattern: re.Pattern[str], frames: tuple[Frame, ...]) -> dict[str, list[str]]:
    """What the texts of steps tell, by name."""
    told: dict[str, list[str]] = {}
    for frame in frames:
        if (found := pattern.search(frame.text)) is not None:
            told.setdefault(found["name"], []).append(found["value"])
    return told


# ─────────────────────────────────────────────────────────────────────────────────── against the gradients


@pytest.mark.sample(12)
@pytest.mark.parametrize("seed", range(60))
def test_gradients_and_values_against_autograd(seed):
    source, names = straight(seed)
    values, expected = gradients(source, names, judge())
    report = Report(run(source + "out.backward()\n").trace, lang="en")
    letters = {card.letter for _, card in report.graph.cards()}  # of results without a variable
    made = check(told_by(MAKES, report.frames), values, "value of", letters)
    took = check(told_by(TAKES, report.frames), expected, "gradient of", letters)
    stored = told_by(STORES, report.frames)
    check(stored, expected, "stored in")
    leaves = [n for n in names if f"{n} = torch.tensor(" in source]
    assert set(stored) == {n for n in leaves if expected[n] is not None}
    assert took >= 1 and made >= 1
    check_sent(report.frames, expected)


def check_sent(frames: tuple[Frame, ...], expected: dict[str, Any]) -> None:
    """What all nodes together sent to a tensor is its gradient."""
    shares: dict[str, list[str]] = {}
    for frame in frames:
        for part in SENT.finditer(frame.text) if frame.phase == "backward" else ():
            shares.setdefault(part["name"], []).append(part["value"])
    assert shares
    for name, texts in shares.items():
        if name in expected and not any(
            "(" in text or "×" in text for text in texts
        ):  # some show only the shape
            parts = [one for text in texts for one in read(text)]
            total = Range(sum(p.value for p in parts), sum(p.slack for p in parts))
            whole = np.asarray(expected[name])
            assert total.meets(Range(whole, np.zeros(whole.shape))), f"sent to {name}: {texts} for {whole}"


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(60, 80))
def test_deposits_over_two_calls(seed):
    source, names = straight(seed)
    _, expected = gradients(source, names, judge())
    report = Report(run(source + "out.backward(retain_graph=True)\nout.backward()\n").trace, lang="en")
    lines = [(line.kind, line.text) for frame in report.frames for line in frame.lines]
    deposits = [text for kind, text in lines if kind == "deposit"]
    assert deposits, "each leaf has one"
    for text in deposits:
        name = text.partition(".grad")[0]
        if re.search(r"float64 \(", text):
            continue  # a matrix shows only its shape
        (*_, before), (*_, after) = sides(text)[0], sides(text)[-1]
        whole = 2 * np.asarray(expected[name])
        exactly = Range(whole, np.zeros(whole.shape))
        assert before.meets(after) and after.meets(exactly), f"{text} for {whole}"


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(80, 100))
def test_the_gradient_of_a_gradient(seed):
    source, _ = straight(seed)
    ending = "first, = torch.autograd.grad(out, v0, create_graph=True)\n"
    library = judge()
    space = run(source + ending, library, watched=False).names
    if not space["first"].requires_grad:
        expected = None
    else:
        (second,) = library.autograd.grad(space["first"].sum(), space["v0"], allow_unused=True)
        expected = None if second is None else np.array(second.numpy())
    ran = run(source + ending + "torch.autograd.grad(first.sum(), v0, allow_unused=True)\n")
    report = Report(ran.trace, lang="en")
    returned = [t for f in report.frames for t in re.findall(r"autograd\.grad returns (.*) for v0", f.text)]
    if expected is not None:
        assert returned and agrees(returned[-1], expected), f"{returned} for {expected}"
    check_lines(ran.trace, report.frames)


# ─────────────────────────────────────────────────────────────────────────────────── every line of arithmetic


def values_of(trace: Trace) -> list[Value]:
    """All gradients that a trace has: sent, received, deposited, captured, seen by hooks, inside."""
    found: list[Value | None] = []
    for event in trace.events:
        if isinstance(event, NodeRan):
            found += [*event.sent, *event.received]
        elif isinstance(event, GradAccumulated):
            found += [event.before, event.added, event.after]
        elif isinstance(event, BackwardEnded):
            found += [value for _, value in event.captured]
        elif isinstance(event, BackwardStarted):
            found += event.gradients
        elif isinstance(event, HookRan):
            found += [*event.before, *event.after]
        elif isinstance(event, Inside):
            found.append(event.output)
    return [value for value in found if value is not None and value.items is not None]


def check_lines(trace: Trace, frames: tuple[Frame, ...]) -> Counter[str]:
    """Both sides of every equation agree, and its result is a gradient that the engine had. Returns how
    many lines of each kind were computed, and how many were not."""
    exact = [Range(np.array(v.items, float).reshape(v.shape), 0.0) for v in values_of(trace) if real(v)]
    reckoned: Counter[str] = Counter()
    for frame in frames:
        for line in frame.lines:
            for tone, part in line.parts:
                if tone and "(" not in part and (tone == "out" or line.kind != "own"):
                    known = [any(r.meets(e) for e in exact) for r in read(part)]
                    assert any(known), f"{tone} {part} is no gradient of the engine: {line.text}"
            if line.kind not in RECKONED:
                continue
            text = line.text.rpartition(": ")[2] if line.kind == "broadcast" else line.text
            found = sides(text)
            reckoned[line.kind if len(found) > 1 else "not"] += 1
            for one in found[:-1]:
                moved = "   " in text and " → " in text  # a shape became another
                last = [
                    (a.brought_to(np.shape(b.value)) if moved else None, b) for a in one for b in found[-1]
                ]
                same = any(a.meets(b) for a in one for b in found[-1])
                same = same or any(a is not None and a.meets(b) for a, b in last)
                assert same, f"{line.text}: {one} against {found[-1]}"
            check_latex(line.text, line.latex)
    return reckoned


def real(value: Value) -> bool:
    return not any(isinstance(item, complex) for item in value.items or ())


SMALL = str.maketrans("", "", "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉⁻")
NUMBERS = re.compile(r"(?<![\w.])\d+\.?\d*(?:e-?\d+)?")


def check_latex(text: str, latex: str) -> None:
    """The formula has the numbers of the text that have a fraction, and no others."""
    if not latex or re.search(r"float\d+ \(", text):
        return  # a formula may write out an array of which the text says the shape

    def fractions(written: str) -> set[str]:
        written = re.sub(r"\\text\{([^}]*)\}", r"\1", written)
        plain = re.sub(r"\\cdot 10\^\{(-?\d+)\}", r"e\1", written.translate(SMALL))
        return {n.rstrip(".") for n in NUMBERS.findall(plain) if "." in n.rstrip(".")}

    assert fractions(latex) == fractions(text), (text, latex)


@pytest.mark.quick(6)
@pytest.mark.parametrize("code", CELLS)
def test_lines_of_the_documented_cells(code):
    trace = run(CELLS[code]).trace
    report = Report(trace, lang="en")
    for act in report.acts:
        check_lines(trace, act.frames)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_lines_of_the_documented_programs(path):
    source = path.read_text(encoding="utf-8").replace("import torch\n", "")
    trace = run(source, names={"torch": minigrad}).trace
    report = Report(trace, lang="en")
    for act in report.acts:
        check_lines(trace, act.frames)


def test_lines_of_random_programs():
    """Most lines are computed; a line that cannot be read is counted."""
    reckoned: Counter[str] = Counter()
    for seed in range(100, 100 + examples(240)):
        trace = run(straight(seed)[0] + "out.backward(retain_graph=True)\nout.backward()\n").trace
        reckoned += check_lines(trace, Report(trace, lang="en").frames)
    assert {"chain_rule", "vjp", "sum", "paths", "deposit", "broadcast"} <= set(reckoned), reckoned
    assert reckoned["not"] < reckoned.total() / 3, reckoned


def test_lines_in_pytorch(torch):
    for code in (4, 7, 9, 10, 13, 16, 18):
        trace = run(CELLS[code], torch).trace
        assert check_lines(trace, Report(trace, lang="en").frames).total() >= 2
    for seed in range(180, 200):
        trace = run(straight(seed)[0] + "out.backward()\n", torch).trace
        check_lines(trace, Report(trace, lang="en").frames)


@pytest.mark.parametrize(
    "text, right",
    [
        ("∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75 = 0.6", True),
        ("∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75 = 0.61", False),
        ("x.grad = 1. (through w) + 0.6 (through f(y)) = 1.6", True),
        ("x.grad = 1. (through w) + 0.6 (through f(y)) = 1.7", False),
        ("x̄ = [4 7 9] · [2 3 5] = 8 + 21 + 45 = 74   (3,)·(3,) → ()", True),
        ("x̄ = [4 7 9] · [2 3 5] = 8 + 22 + 45 = 74", False),
        ("ȳ = [[1 2] [3 4]]ᵀ · [1 −1] = [−2 −2]", True),
        ("ȳ = [[1 2] [3 4]] · [1 −1] = [−2 −2]", False),
        ("x̄ = Σ[dim 0] ([[1 2] [3 4]] ⊙ [2 1]) = [5 10]", False),
        ("x̄ = Σ[dim 0] ([[1 2] [3 4]] ⊙ [2 1]) = [8 6]", True),
        ("x̄ = Σ ([1 2] ⊙ [2 1]) = 4", True),
        ("∂²z/∂x² = 30·0.008 + 75·(−0.000064)·75 = 0.24 − 0.36 = −0.12", True),
        ("∂²z/∂x² = 30·0.008 + 75·(−0.00064)·75 = 0.24 − 0.36 = −0.12", False),
    ],
)
def test_the_reader_can_tell(text, right):
    found = sides(text)
    assert len(found) > 1
    assert all(any(a.meets(b) for a in one for b in found[-1]) for one in found) is right, found
    with pytest.raises(Unreadable):
        read(without_reasons(text).split(" = ")[0])
