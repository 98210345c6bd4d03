"""Updates of parameters: one lane below the graph, with the numbers of the run, on both libraries."""

from __future__ import annotations

import re

import pytest
from cells import traced
from staged import frames_of, scenes_of

from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.trace.events import OptimizerStepped

HEAD = "w = torch.tensor([2.0, -1.0], requires_grad=True)\nx = torch.tensor([3.0, 5.0])\n"
BACK = "loss = (w * x).sum() ** 2\nloss.backward()\n"
BY_HAND = {
    "with torch.no_grad():\n    w -= 0.1 * w.grad": "w ← w − 0.1 · w.grad",
    "w.data -= 0.1 * w.grad": "w ← w − 0.1 · w.grad",
    "w.data = w.data - 0.1 * w.grad": "w ← w − 0.1 · w.grad",
    "w.data.add_(w.grad, alpha=-0.1)": "w ← w − 0.1 · w.grad",
    "with torch.no_grad():\n    w.sub_(0.1 * w.grad)": "w ← w − 0.1 · w.grad",
    "lr = 0.1\nfor p in [w]:\n    p.data += -lr * p.grad": "w ← w − lr · w.grad",
}
OPTIMIZERS = (
    "SGD([w], lr=0.1)",
    "SGD([w], lr=0.1, momentum=0.9)",
    "SGD([w], lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)",
    "SGD([w], lr=0.1, momentum=0.9, dampening=0.5)",
    "Adam([w], lr=0.1)",
    "Adam([w], lr=0.1, weight_decay=0.1)",
    "AdamW([w], lr=0.1)",
    "RMSprop([w], lr=0.1)",
    "Adagrad([w], lr=0.1)",
)
UNTOLD = (
    "SGD([w], lr=0.1, maximize=True)",
    "Adam([w], lr=0.1, maximize=True)",
    "RMSprop([w], centered=True)",
)


@pytest.fixture(params=["minigrad", "PyTorch"])
def library(request):
    import minigrad

    return minigrad if request.param == "minigrad" else request.getfixturevalue("torch")


def last(source, library):
    trace = traced(source, library)
    view = scenes_of(trace, lang="en")[-1]
    return view.graph, [f for f in frames_of(trace, view.graph, view.call, "en") if f.phase == "update"]


def ends(text):
    """The first and the last number of a formula without its symbols."""
    return re.findall(r"\[[^\]]*\]", text)[0], re.findall(r"\[[^\]]*\]", text)[-1]


@pytest.mark.quick
@pytest.mark.parametrize("statement", BY_HAND)
def test_written_by_hand(statement, library):
    graph, (step,) = last(HEAD + BACK + statement + "\n", library)
    (update,) = graph.updates
    (change,) = update.changes
    assert (update.kind, change.name, update.early) == ("written", "w", False)
    assert change.before.items == (2.0, -1.0) and change.gradient.items == (6.0, 10.0)
    assert change.after.items == pytest.approx((1.4, -2.0))
    assert step.lines[0].text.startswith(BY_HAND[statement] + " = [2. -1.] − ")
    assert ends(step.lines[0].text) == ("[2. -1.]", "[1.4 -2.]")
    assert {"u0", "u0-c0"} < set(step.marks)
    assert {card.name for _, card in graph.cards()} == {"w", "x", "loss", None}, "nothing of it is loose"


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_rules_of_an_optimizer(optimizer, library):
    loop = "".join(f"    {line}\n" for line in (BACK + "opt.step()\nopt.zero_grad()").splitlines())
    source = f"{HEAD}opt = torch.optim.{optimizer}\nfor i in range(3):\n{loop}"
    graph, (step, reset) = last(source, library)
    first, second = graph.updates
    assert (first.kind, first.title, first.about) == ("step", "opt.step()", optimizer.partition("(")[0])
    assert (second.kind, second.changes[0].name) == ("zero", "w.grad")
    formulas = [line.text for line in step.lines if line.kind == "update"]
    assert formulas and ends(formulas[-1])[1] == re.search(r"→ (.*)", step.text)[1]
    assert reset.text == "w.grad: set to None"
    assert sum(isinstance(event, OptimizerStepped) for event in traced(source, library).events) == 3


@pytest.mark.parametrize("optimizer", UNTOLD)
def test_no_rule_is_shown_that_the_run_contradicts(optimizer, library):
    source = f"{HEAD}opt = torch.optim.{optimizer}\n{BACK}opt.step()\n{BACK}opt.step()\n"
    _, (step,) = last(source, library)
    assert not [line for line in step.lines if line.kind == "update"]
    assert step.text.startswith("opt.step() changes w: [")


def test_a_formula_has_all_numbers_and_none_twice(library):
    source = """
w = torch.zeros(4, requires_grad=True)
x = torch.tensor([0.00105234, -0.000465678, -0.00971234, 0.00721234])
opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)
loss = (w * x).sum()
loss.backward()
opt.step()
"""
    _, (step,) = last(source, library)
    first, second = (line.text for line in step.lines if line.kind == "update")
    assert re.fullmatch(r"v ← g = \[0\.0010523 [^\]=]*\]", first)
    assert "float32" not in first + second


def test_of_many_tensors_the_rest_is_counted_in_the_details(library):
    source = (
        "net = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(3)])\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.5)\n"
        "net(torch.ones(1, 2)).sum().backward()\nopt.step()\n"
    )
    _, (step,) = last(source, library)
    assert [(line.kind, line.text) for line in step.lines if line.label == "…"] == [("update", "and 2 more")]


def test_the_head_of_a_round_belongs_to_it(library):
    body = "opt.zero_grad()\n" + BACK + "opt.step()\n"
    loop = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"{HEAD}opt = torch.optim.SGD([w], lr=0.1)\nfor i in range(3):\n{loop}"
    views = scenes_of(traced(source, library), lang="en")
    told = [[(u.title, u.early) for u in view.graph.updates] for view in views]
    assert told == [[("opt.zero_grad()", True), ("opt.step()", False)]] * 3


def test_clipping_and_a_module(library):
    source = (
        "net = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.5)\n"
        "loss = net(torch.ones(3, 2)).sum() * 10\nloss.backward()\n"
        "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\nopt.step()\n"
    )
    graph, (_, step) = last(source, library)
    assert [u.kind for u in graph.updates] == ["clip", "step"]
    assert [c.name for c in graph.updates[0].changes] == ["net.weight.grad", "net.bias.grad"]
    assert [c.name for c in graph.updates[1].changes] == ["net.weight", "net.bias"]
    assert step.text == "opt.step() changes 2 tensors"
    assert not [card for _, card in graph.cards() if "clip" in (card.expr or "")]


def test_parameters_of_a_model_that_is_gone_keep_their_names(library):
    """As in each fold of a cross-validation, or in a function that makes its model."""
    source = (
        "for k in range(2):\n    net = torch.nn.Linear(2, 1)\n    loss = net(torch.ones(3, 2)).sum()\n"
        "    opt = torch.optim.SGD(net.parameters(), lr=0.5)\n    loss.backward()\n    opt.step()\n"
    )
    trace = traced(source, library)
    views = scenes_of(trace, lang="en")
    told = [[change.name for each in view.graph.updates for change in each.changes] for view in views]
    assert told == [["net.weight", "net.bias"]] * 2
    formulas = [line.text for f in frames_of(trace, views[0].graph, views[0].call, "en") for line in f.lines]
    assert any(text.startswith("grad(net.weight) = ") for text in formulas)
    assert not any(text.startswith(("grad(0)", "grad(…)")) for text in formulas)


def test_clipping_below_its_limit_changes_no_number(library):
    source = f"{HEAD}opt = torch.optim.SGD([w], lr=0.1, momentum=0.9, nesterov=True)\n{BACK}"
    clip = "torch.nn.utils.clip_grad_norm_([w], 1e6)"
    _, (clipped, step) = last(f"{source}{clip}\nopt.step()\n", library)
    assert clipped.text == f"{clip} changes no number"
    assert step.lines[0].text == "SGD lr=0.1 momentum=0.9 nesterov=True"


def test_a_box_with_one_node_tells_what_it_saves(library):
    """However many ops the library needed for the numbers."""
    source = (
        "d = torch.nn.Dropout(0.5)\nx = torch.ones(2, 3, requires_grad=True)\nd(x * 2).sum().backward()\n"
    )
    trace = traced(source, library)
    view = scenes_of(trace, lang="en")[-1]
    told = [
        f for f in frames_of(trace, view.graph, view.call, "en") if f.text.startswith("d Dropout computes")
    ]
    assert ["MulBackward0 saves other = " in line.text for line in told[0].lines] == [True]


def test_what_was_computed_earlier_has_its_expression(library):
    source = (
        f"{HEAD}xs = torch.ones(3, 2) * 2\nopt = torch.optim.SGD([w], lr=0.1)\ndef train(x):\n"
        "    for i in range(2):\n        opt.zero_grad()\n        loss = (w * x).sum()\n"
        "        loss.backward()\n        opt.step()\ntrain(xs[1])\n"
    )
    trace = traced(source, library)
    view = scenes_of(trace, lang="en")[-1]
    told = [f.text for f in frames_of(trace, view.graph, view.call, "en")]
    assert "xs[1] = [2. 2.]: computed earlier in this cell" in told


def test_it_is_drawn_and_told(library):
    graph, _ = last(f"{HEAD}opt = torch.optim.SGD([w], lr=0.1)\n{BACK}opt.step()\nw.grad = None\n", library)
    told = outline(graph, "en").splitlines()
    assert told[-4:] == [
        "→ opt.step()   SGD lr=0.1", "  w: [2. -1.] → [1.4 -2.]",
        "→ w.grad = None", "  w.grad: [6. 10.] → None",
    ]  # fmt: skip
    svg = Picture(graph, lang="en").svg()
    for id in ("u0", "u0-c0", "u0-c0-before", "u0-c0-after", "u1"):
        assert re.search(f'id="g[0-9a-f]+-{id}"', svg), id


def test_many_lines_are_the_largest(library):
    source = (
        "ps = [torch.tensor(float(i), requires_grad=True) for i in range(20)]\n"
        "loss = sum(i * p for i, p in enumerate(ps))\nloss.backward()\n"
        "for p in ps:\n    p.data -= 0.1 * p.grad\n"
    )
    graph, _ = last(source, library)
    (update,) = graph.updates
    assert len(update.changes) == 20
    assert "and 12 more" in outline(graph, "en").splitlines()[-1]


def test_what_has_no_part_stands_aside(library):
    data = "".join(f"d{i} = torch.ones(2) * {i}\n" for i in range(10))
    after = "with torch.no_grad():\n    prediction = w * x\n    error = prediction - 1\n"
    source = HEAD + data + BACK + after + "other = w * 2\n" + "pad = [torch.zeros(1) for _ in range(3)]\n"
    graph, _ = last(source, library)
    assert {card.name for _, card in graph.cards()} == {"w", "x", "loss", None}
    assert dict(graph.aside)["aside_graph"] == 1 and dict(graph.aside)["aside_result"] >= 2
    assert outline(graph, "en").splitlines()[-1].startswith("Not shown: data preparation ")
    (view,) = scenes_of(traced(source, library), lang="en")
    drawn = {station.id for station in graph.stations}
    apart = [station for station in view.aside.stations if station.id not in drawn]
    assert {"other", "prediction", "error", "d9"} <= {card.name for s in apart for card in s.cards}
    assert len(apart) == sum(count for _, count in graph.aside)
    beside = [station for station in view.aside.stations if station.id in drawn]
    assert {card.name for s in beside for card in s.cards} == {"w", "x"}, "what they were computed from"
    assert all(station.deck is None for station in beside)
    (view,) = scenes_of(traced(source, library), lang="en", fold=False)
    assert "other" in {card.name for _, card in view.graph.cards()} and not view.aside.stations


def test_what_stands_aside_is_drawn_like_any_graph(library):
    """So a picture of it opens on request."""
    source = f"{HEAD}{BACK}apart = (w * 2).sum()\nw.data -= w.grad\n"
    (view,) = scenes_of(traced(source, library), lang="en")
    assert "apart = (w * 2).sum()" in outline(view.aside, "en") and "apart" not in outline(view.graph, "en")
    assert "<svg" in Picture(view.aside, lang="en").svg()


def test_of_the_data_of_a_training_only_what_goes_in_is_shown(library):
    """However small the cell is; a look at a detached copy stays where nothing is updated."""
    source = (
        "X = torch.linspace(-1, 1, 4)\nY = 3 * X - 1\nw = torch.ones(1, requires_grad=True)\n"
        "loss = ((w * X - Y) ** 2).mean()\nloss.backward()\n"
    )
    graph, _ = last(source, library)
    assert "3 * X" in {card.expr for _, card in graph.cards()} and not graph.aside
    graph, _ = last(source + "with torch.no_grad():\n    w -= 0.1 * w.grad\n", library)
    shown = {card.expr for _, card in graph.cards()}
    assert "3 * X" not in shown and {"X", "Y", "w", "loss"} <= {card.name for _, card in graph.cards()}
    assert dict(graph.aside) == {"aside_data": 1}


@pytest.mark.parametrize(
    "statement, filled",
    [
        ("w -= rate * w.grad", "[2. -1.] − 0.1 · [6. 10.]"),
        ("w.sub_(w.grad * rate)", "[2. -1.] − [6. 10.] · 0.1"),
        ("w.data += -rate * w.grad", "[2. -1.] − 0.1 · [6. 10.]"),
        ("w -= rate / 2 * w.grad", "[2. -1.] − 0.05 · [6. 10.]"),
    ],
)
def test_a_number_that_has_a_name_is_written_as_a_number(statement, filled, library):
    _, (step,) = last(f"{HEAD}rate = 0.1\n{BACK}with torch.no_grad():\n    {statement}\n", library)
    assert f" = {filled} = " in step.lines[0].text
