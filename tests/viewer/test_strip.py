"""The strip of cards: what is in it, that its numbers are those of the run, and that all of it fits."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from cells import run, traced
from course_models import HEAD, MODELS, program

from minigrad_viz import draw
from minigrad_viz.drawing.detail import DetailDrawing, DetailPicture
from minigrad_viz.drawing.strip_pictures import StripPicture
from minigrad_viz.drawing.strip_words import short
from minigrad_viz.drawing.update_tables import update_tables
from minigrad_viz.model.card_titles import DATA, LOSS
from minigrad_viz.model.fold import READABLE
from minigrad_viz.model.naming import SUBSCRIPTS
from minigrad_viz.model.strip import MOST, strip_of
from minigrad_viz.model.strip_insides import opened_cards
from minigrad_viz.number_text import value_range
from minigrad_viz.player.score import score_of
from minigrad_viz.player.static_html import player_html
from minigrad_viz.protocol import BINS, MANY, value_from, value_of
from minigrad_viz.shell.report import Report
from minigrad_viz.trace import notes
from minigrad_viz.trace.events import BackwardStarted, InPlaceWrite

# The MLP again, with what the strip says of it kept.
KEEPING = (
    program("mlp")
    .replace("loss = F.mse_loss(net(x)", "h = net[0](x)\nout = net[2](net[1](h))\nloss = F.mse_loss(out")
    .replace("loss.b", "h.retain_grad(), out.retain_grad()\nloss.b")
    .replace("opt.step()", "before = [p.detach().clone() for p in net.parameters()]\nopt.step()")
)
STATIONS = 25  # of one detail, at about
KILOBYTES = 300


def report_of(name, library, lang="en"):
    return Report(traced(program(name), library), lang=lang)


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", MODELS)
def test_the_whole_model_is_in_the_strip(name, torch):
    """Every parameter that got a gradient stands behind one card; names are single; all cards fit."""
    report = report_of(name, torch)
    strip = strip_of(report.views[-1])
    assert strip is not None and isinstance(report.picture, StripPicture)
    assert 3 <= len(strip.cards) <= MOST
    assert [card.role for card in strip.cards].count(LOSS) == 1 and strip.cards[-1].role == LOSS
    names = [card.name for card in strip.cards]
    assert len(set(names)) == len(names) and all(names)
    inside = {card.id for fold in strip.graph.folds for _, card in fold.parameters}
    outside = {card.id for _, card in strip.graph.cards()}
    changed = {change.tensor for update in strip.graph.updates for change in update.changes}
    assert changed and changed <= inside | outside


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_cut_and_nothing_is_small(name, torch):
    """Cards beside each other with their whole names, in a narrow window rows below each other; what is
    inside of them is as narrow."""
    report = report_of(name, torch)
    picture = report.picture
    for shown in (picture, *picture.forms()):
        svg = str(shown.svg())
        assert float(re.search(r'width="([\d.]+)"', svg)[1]) <= shown.across
        found = re.findall(r'class="box" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', svg)
        boxes = [tuple(map(float, each)) for each in found[: len(picture.strip.cards)]]
        assert all(wide >= 72 and x + wide <= shown.across for x, _, wide, _ in boxes)
        for a, b in pairwise(boxes):
            assert a[0] + a[2] < b[0] or a[1] + a[3] < b[1], "no card lies on another"
        names = [
            " ".join(re.findall(r'class="name"[^>]*>([^<]*)', part)) for part in svg.split('class="head"')[1:]
        ]
        for card, written in zip(picture.strip.cards, names, strict=True):
            known = card.name.replace(" ", "")
            assert written.replace(" ", "").startswith(known), "a name is whole"
    acts = report._acts.played()[0]
    for panel in acts[-1].panels:
        if panel.box == "aside":
            continue
        least = min([panel.picture, *panel.picture.forms()], key=lambda form: form.across)
        assert float(re.search(r'width="([\d.]+)"', str(least.svg()))[1]) <= max(least.across, 316)
    html = player_html(acts, report.trace.source, "en")
    assert len(html) < 1000 * KILOBYTES


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", MODELS)
def test_details_have_few_stations_with_names_of_their_own(name, torch):
    strip = strip_of(report_of(name, torch).views[-1])
    opened = list(opened_cards(strip))
    closed = {card.id for card in strip.cards if card.role != DATA} - {id for id, *_ in opened}
    members = {group.id: group.members for group in strip.whole.groups}
    assert all(len(members[id]) > READABLE for id in closed), "only what is too large stays closed"
    for _, title, detail in opened:
        inner = [s for s in detail.graph.stations if s.id not in detail.outside]
        assert title and 0 < len(inner) <= STATIONS + 10
        ends = {id for route in detail.graph.routes for id in (route.source, route.target)}
        assert ends <= {station.id for station in detail.graph.stations}, "arrows end where something is"
        views = {
            "TBackward0",
            "ViewBackward0",
            "ExpandBackward0",
            "TransposeBackward0",
            "UnsafeViewBackward0",
        }
        names = [s.deck.name for s in inner if s.deck is not None and s.deck.name != "AccumulateGrad"]
        assert set(names) <= views or views.isdisjoint(names)


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", MODELS)
def test_stations_are_called_as_in_the_code(name, library):
    """What a station of a detail is called occurs in the source, is the path of a module or a parameter, a
    function of the library or a state; and no two of one detail have the same name."""
    report = report_of(name, library)
    source = re.sub(r"\s|self\.|torch\.", "", report.trace.source)
    paths = {group.path for group in report.views[-1].whole.groups if group.path}
    pictures = {panel.title: panel.picture for panel in report.act(-1).panels}
    details = {way: each.detail for way, each in pictures.items() if isinstance(each, DetailPicture)}
    assert details
    for way, detail in details.items():
        drawing = DetailDrawing(detail, "", "", "en", 832)
        names = [box.name for box in drawing.boxes.values() if not box.outside]
        assert len(set(names)) == len(names), (way, names)
        assert all(is_known(name, source, paths, library) for name in names), (way, names)


def is_known(name, source, paths, library):
    """Whether a name stands in the source, or is that of a module, a parameter, a function or a state."""
    plain = re.sub(r" \(\d+\)$", "", name)
    ends = [f".{at}." for at in (plain.split(" ")[0], plain.rpartition(".")[0]) if at]
    if re.sub(r"\s|self\.|torch\.|…", "", plain) in source or plain[-1] in "₀₁₂₃₄₅₆₇₈₉":
        return True
    if any(f".{path}.".endswith(end) for path in paths for end in ends):
        return True
    return any(hasattr(place, plain) for place in (library, library.nn.functional, library.Tensor))


@pytest.mark.parametrize("between", ["", "p = "])
def test_a_card_that_joins_says_what_it_ends_with(between, library):
    """`a` is the flattened output: neither the card nor a caption says that pooling alone computes it."""
    last = "p = pool(h)\na = p.flatten(1)" if between else "a = pool(h).flatten(1)"
    cell = f"""{HEAD}
conv, pool, fc = nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.Linear(18, 3)
x = torch.randn(2, 1, 8, 8)
h = torch.relu(conv(x))
{last}
loss = F.cross_entropy(fc(a), torch.tensor([0, 1]))
loss.backward()
"""
    act = Report(traced(cell, library), lang="en").act(-1)
    (card,) = [card for card in act.picture.strip.cards if card.name == "pool"]
    assert card.kind == "MaxPool2d … flatten" and card.value.shape == (2, 18)
    said = [frame.text for frame in act.frames]
    assert any(each.startswith("pool … flatten computes a = float32 (2, 18)") for each in said)
    assert any(each.startswith("pool … flatten receives 2×18 and passes 2×2×6×6 to h") for each in said)


def test_boxes_that_join_are_called_in_captions(torch):
    """No caption calls what a card computes `result 2`, or by nothing."""
    for name in ("lenet", "unet", "bert", "vae"):
        for frame in report_of(name, torch).act(-1).frames:
            assert not re.search(r"result \d|  \[|^ | computes$", frame.text), (name, frame.text)


@pytest.mark.quick
def test_the_numbers_are_those_of_the_run(library):
    report = report_of("mlp", library)
    table = report.picture.outline().split("\n\n")[0].split("\n")
    rows = {line.split("   ")[0]: line.split()[-3:] for line in table}
    space = {"torch": library}
    exec(KEEPING, space)

    def rms(tensors):
        flat = [n for tensor in tensors for n in tensor.detach().reshape(-1).tolist()]
        return (sum(n * n for n in flat) / len(flat)) ** 0.5

    after = list(space["net"].parameters())
    moved = [[b - a for a, b in zip(space["before"][i : i + 2], after[i : i + 2])] for i in (0, 2)]
    ratios = [short(rms(moved[i]) / rms(space["before"][2 * i : 2 * i + 2])) for i in (0, 1)]
    assert rows["0 Linear 2→8"] == [short(rms([space["h"]])), short(rms([space["h"].grad])), ratios[0]]
    assert rows["2 Linear 8→1"] == [short(rms([space["out"]])), short(rms([space["out"].grad])), ratios[1]]


def test_what_repeats_is_one_card_with_a_bar_for_each(torch):
    strip = strip_of(report_of("deep", torch).views[-1])
    (card,) = [card for card in strip.cards if card.bars]
    assert card.name == "0 … 23 ×12" and [bar.name for bar in card.bars] == [str(2 * i) for i in range(12)]
    sizes = [bar.grad.rms for bar in card.bars]
    assert sizes == sorted(sizes), "the gradient of a deep net of sigmoids shrinks from right to left"


def test_rounds_of_a_loop_are_a_film(library):
    """The states are named as books name them, from the one that the loop begins with; a line says how the
    gradient goes on from round to round."""
    report = report_of("rnn by hand", library)
    strip = strip_of(report.views[-1])
    assert [card.name for card in strip.cards] == ["h₀", "h₁", "h₂", "h₃", "h₄", "h₅", "h₆", "loss"]
    assert strip.cards[0].role == DATA
    assert [card.kind for card in strip.cards[1:-1]] == [f"t = {i}" for i in range(6)]
    assert strip.film == tuple(range(1, 7)) and str(report.picture.svg()).count('class="slope"') == 5


@pytest.mark.parametrize("rounds", [8, 30])
def test_a_long_loop_is_a_film_with_a_bar_for_each_round_between(rounds, library):
    """The first and the last rounds are cards, in one row with the rest of the model."""
    cell = (
        program("rnn by hand").replace("range(6)", f"range({rounds})").replace("randn(6,", f"randn({rounds},")
    )
    report = Report(traced(cell, library), lang="en")
    strip = strip_of(report.views[-1])
    state = [f"h{str(i).translate(SUBSCRIPTS)}" for i in range(rounds + 1)]
    between = f"{state[3]} … {state[-3]}"
    names = [card.name for card in strip.cards]
    assert names == ["h₀", "h₁", "h₂", between, state[-2], state[-1], "loss"]
    bars = strip.cards[3].bars
    assert [bar.name for bar in bars] == state[3:-2]
    sizes = [bar.grad.rms for bar in bars]
    assert sizes[0] < sizes[-1] < strip.cards[-2].grad.rms
    assert any(frame.text.startswith(f"{between} computes ") for frame in report.act(-1).frames)
    (inside,) = [panel for panel in report.act(-1).panels if panel.title == between]
    detail = inside.picture.detail
    drawn = [s.cards[0].name for s in detail.graph.stations if s.id not in detail.outside and s.cards[0].name]
    assert drawn == state[3:-2]


def test_calls_of_a_cell_are_named_by_their_states(library):
    """`h` of the first line is `h₀`, although other variables stand before it; no weight hides the rounds."""
    cell = f"""{HEAD}
cell = nn.LSTMCell(2, 4)
x, h, c = torch.randn(20, 1, 2), torch.zeros(1, 4), torch.zeros(1, 4)
for t in range(20):
    h, c = cell(x[t], (h, c))
loss = h.sum()
loss.backward()
"""
    report = Report(traced(cell, library), lang="en")
    names = [card.name for card in strip_of(report.views[-1]).cards]
    assert names == ["h₀", "h₁", "h₂", "h₃ … h₁₈", "h₁₉", "h₂₀", "loss"]
    for panel in report.act(-1).panels:
        if " … " in panel.title:
            assert not any(
                s.cards[0].requires_grad and s.cards[0].is_leaf for s in panel.picture.graph.stations
            )


LOOPS = {
    "layers": """
class RNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.xh, self.hh, self.out = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2)
    def forward(self, x):
        h = torch.zeros(1, 4)
        for t in range(len(x)):
            h = torch.tanh(self.xh(x[t]) + self.hh(h))
        return self.out(h)
""",
    "parameters": """
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wx, self.Wh = nn.Parameter(torch.ones(3, 4) / 3), nn.Parameter(torch.ones(4, 4) / 4)
    def forward(self, x):
        h = torch.zeros(1, 4)
        for step in x:
            h = torch.tanh(step @ self.Wx + h @ self.Wh)
        return h
class RNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = Cell(), nn.Linear(4, 2)
    def forward(self, x):
        return self.out(self.rnn(x))
""",
    "cell": """
class RNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(3, 4), nn.Linear(4, 2)
    def forward(self, x):
        h = c = torch.zeros(1, 4)
        for step in x:
            h, c = self.cell(step, (h, c))
        return self.out(h)
""",
}
CALLED = """
net = RNN()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(5, 1, 3)
loss = F.cross_entropy(net(x), torch.tensor([1]))
loss.backward()
opt.step()
"""


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_inside_a_forward_is_a_film_too(loop, library):
    """Rounds that share their parameters are time: each says how far an update moved these."""
    strip = strip_of(Report(traced(HEAD + LOOPS[loop] + CALLED, library), lang="en").views[-1])
    names = [card.name for card in strip.cards]
    assert names == ["h₀", "h₁", "h₂", "h₃", "h₄", "h₅", "out", "loss"] and strip.film == (1, 2, 3, 4, 5)
    ratios = {card.update for card in strip.cards[1:6]}
    assert len(ratios) == 1 and ratios != {None} and strip.cards[1].learns


def test_layers_in_a_loop_are_depth(library):
    source = """
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(6)])
        self.norms = nn.ModuleList([nn.LayerNorm(4) for _ in range(6)])
        self.out = nn.Linear(4, 2)
    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = norm(layer(x))
        return self.out(x)
"""
    program = HEAD + source + CALLED.replace("RNN", "Deep").replace("5, 1, 3", "1, 4")
    strip = strip_of(Report(traced(program, library), lang="en").views[-1])
    assert strip.film == () and [len(card.bars) for card in strip.cards if card.bars] == [6]


def test_a_cell_without_modules_has_none(library):
    report = Report(traced("x = torch.tensor(5.0, requires_grad=True)\n(x ** 2).log().backward()\n", library))
    assert strip_of(report.views[-1]) is None and not isinstance(report.picture, StripPicture)


def test_a_summary_is_that_of_the_numbers(library):
    data = library.arange(10000.0).reshape(100, 100) - 2000
    found = value_of(data)
    assert found.items is None and found.summary is not None
    assert found.rms == pytest.approx(float((data**2).mean()) ** 0.5, rel=1e-4)
    assert len(found.summary.bins) == BINS and min(found.summary.bins) > 0.5 * max(found.summary.bins)
    column = value_of(data.T)
    assert column.rms == pytest.approx(found.rms, rel=1e-4)
    mask = value_of(library.relu(data))
    assert mask.summary.zeros == pytest.approx(0.2, abs=0.03)
    bad = library.where(data > 7000, library.full((), float("nan")), data)
    assert value_of(bad).special == "nan" and value_of(bad).rms > 0


def test_many_numbers_are_gone_through_once(library):
    """The extremes of a large parameter are those of a sample, which is said; its rms is that of all numbers,
    none that is not finite is missed, and few different numbers are not missed either."""
    torch = library
    torch.manual_seed(0)
    weight = torch.randn(MANY // 256 + 1, 256)
    found = value_from(weight.numpy(), "float32", exact=False)
    assert found.skimmed and value_range(found).startswith("≈ ")
    assert found.rms == pytest.approx(float((weight**2).mean()) ** 0.5, rel=1e-4)
    assert float(weight.min()) <= found.low < -2 and 2 < found.high <= float(weight.max())
    assert not value_of(weight).skimmed and value_of(weight).low == float(weight.min())
    weight[3, 5] = float("nan")
    assert value_from(weight.numpy(), "float32", exact=False).special == "nan"
    rows = torch.zeros(MANY // 256 + 1, 256)
    rows[7] = 2.0
    sparse = value_from(rows.numpy(), "float32", exact=False)
    assert (sparse.low, sparse.high) == (0, 2)


def test_a_large_weight_is_read_once_until_it_is_written_to(torch, monkeypatch):
    """Also where a node has saved its transpose; and again after a step has changed it."""
    read = []
    usual = notes.value_from
    monkeypatch.setattr(notes, "value_from", lambda data, *how: (read.append(data), usual(data, *how))[1])
    source = (
        f"layer = torch.nn.Linear(256, {MANY // 256 + 1}, bias=False)\n"
        "opt = torch.optim.SGD(layer.parameters(), 1)\n"
        "loss = layer(torch.ones(2, 256, requires_grad=True)).pow(2).mean()\nloss.backward()\nopt.step()\n"
    )
    trace = traced(source, torch)
    sizes = [data for data in read if data.size > MANY]
    assert len(sizes) == 3, "the weight before and after the step, and its gradient"
    steps = [event for event in trace.events if isinstance(event, InPlaceWrite)]
    assert steps[-1].tensor.value.skimmed and steps[-1].tensor.value != steps[-1].tensor.grad
    saved = [chip.value for event in trace.events if isinstance(event, BackwardStarted)
             for node in event.nodes for chip in node.saved if chip.name == "mat2"]  # fmt: skip
    assert [value.shape for value in saved] == [(256, MANY // 256 + 1)]


def test_it_is_told_in_korean(library):
    report = report_of("mlp", library, lang="ko")
    assert "출력 rms" in report.picture.outline() and "변화도" in str(report.picture.svg())


def test_a_gradient_inside_a_card_waits_for_its_step(library):
    """No arrow inside a card has a number before the backward pass, also of one that comes from outside."""
    for act in report_of("mlp", library)._acts.played()[0]:
        for panel in act.panels:
            marked = {mark: frame.phase for frame in reversed(panel.frames) for mark in frame.marks}
            arrows = [f"{route.id}-g" for route in panel.picture.graph.routes if route.tracked]
            assert all(marked[arrow] == "backward" for arrow in arrows)


def test_a_card_shows_nothing_before_the_step_that_computes_it(library):
    """Its parameters are there before, and zero_grad() resets them."""
    cell = program("mlp").replace("loss =", "opt.zero_grad()\nloss =")
    for act in Report(traced(cell, library), lang="en")._acts.played()[0]:
        cards = [s.id for s in act.picture.graph.stations if s.id.startswith("g")]
        assert any(f"{card}-c0" in frame.marks for card in cards for frame in act.frames)
        for card in cards:
            marking = [frame for frame in act.frames if f"{card}-c0" in frame.marks]
            assert marking[0].phase == "forward" and any(mark[0] == "r" for mark in marking[0].marks)
        reset = next(frame for frame in act.frames if frame.phase == "update")
        assert any(mark in cards for mark in reset.marks), "the card as a whole"


STOPS = {
    "a shape": ("h = net(x)\nout = h @ torch.ones(3, 2)", ["net.2 Linear (2)", "@"]),
    "freed": ("loss.backward()\nloss.backward()", ["loss"]),
    "a write": ("h = net[1](net[0](x))\nh += 1\nnet[2](h).mean().backward()", ["net.1 ReLU"]),
    "no number": ("net(x).backward()", ["net.2 Linear (2)"]),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_failed_is_marked_at_its_card(name, library):
    """The whole model stands in the strip as if nothing had failed; the card says where it stopped, and so
    does what is inside of it."""
    code, stopped = STOPS[name]
    head = program("mlp").replace("nn.Tanh()", "nn.ReLU()").rpartition("loss.backward")[0]
    report = Report(run(head + code, library).trace, lang="en")
    assert isinstance(report.picture, StripPicture)
    strip = report.picture.strip
    guilty = {mark.part.partition("-")[0] for mark in strip.graph.marks if mark.kind == "guilty"}
    assert [each.name for each in strip.cards if each.id in guilty] == stopped
    assert re.search(r'class="(card|deck) error"', report.picture.svg())
    inside = next(panel for panel in report.act(-1).panels if panel.box in guilty)
    assert re.search(r'class="(card \w+|deck) error"', str(inside.picture.svg()))


def test_chosen_roots_have_the_strip(library):
    report = Report(traced(program("mlp"), library), roots=("loss",), lang="en")
    assert isinstance(report.picture, StripPicture) and report.picture.strip.cards[-1].name == "loss"


def test_a_model_is_drawn_as_a_strip(library):
    """It is called once; without a loss there is no band of gradients, in words as in the picture."""
    nn = library.nn
    model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    x, calls = library.ones(4, 2), []
    model.register_forward_hook(lambda *_: calls.append(1))
    picture = draw(model, x, lang="en")
    assert isinstance(picture, StripPicture) and len(calls) == 1
    names = [card.name for card in picture.strip.cards]
    assert names == ["x", "0 Linear", "1 ReLU", "2 Linear"]
    assert "gradient" not in picture.outline().split("\n\n")[0] and "grad" not in re.findall(
        ">([^<]*)<", picture.svg()
    )
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        draw(model, library.ones(4, 3))
    with pytest.raises(TypeError, match="did you mean theme"):
        draw(model, x, teme="dark")


def test_a_model_without_numbers_is_drawn_with_shapes(torch):
    with torch.device("meta"):
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 4, 3))
        images = torch.empty(2, 3, 16, 16)
    picture = draw(model, images, lang="en")
    rows = [line.split()[-1] for line in picture.outline().split("\n\n")[0].split("\n")[1:]]
    assert rows == ["2×3×16×16", "2×8×14×14", "2×8×14×14", "2×4×12×12"]
    assert ">2×8×14×14<" in picture.svg()


def test_modules_are_found_by_their_paths(torch):
    """Each module leads to the boxes to open for it, from its card on, as near as can be opened."""
    report = report_of("gpt 4", torch)
    content = score_of([report.act(-1)], lang="en")["acts"][0]
    ways = {path: boxes for path, *boxes in content["modules"]}
    model = {"torch": torch}
    exec(program("gpt 4"), model)
    known = {f"gpt.{path}" for path, _ in model["gpt"].named_modules() if path}
    assert ways.keys() == known - {"gpt.blocks.0.attn.drop"}
    cards = {card.id: card.name for card in report.picture.strip.cards}
    assert all(boxes[0] in cards and set(boxes) <= content["panels"].keys() for boxes in ways.values())
    titles = [content["panels"][box]["title"] for box in ways["gpt.blocks.3.attn"]]
    assert titles == ["gpt › blocks ×4", "gpt › blocks › 3 Block", "gpt › blocks › 3 › attn Attention"]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_drawn_model_shows_what_is_asked_for(device, torch):
    """`depth` levels, or the first module for which a function says so, stand below the strip of `draw`."""
    nn = torch.nn
    net = nn.Sequential(
        nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4)), nn.Tanh(), nn.Linear(4, 2)
    )
    net, x = net.to(device), torch.ones(2, 3, device=device)
    high = [float(re.search(r'height="([\d.]+)"', str(draw(net, x, depth=n).svg()))[1]) for n in range(3)]
    assert high[0] < high[1] < high[2]
    picture = draw(net, x, depth=lambda path: path == "0.2", lang="en")
    assert [title for title, _ in picture.details][-1].endswith("2 Linear 4→4")
    assert "AddmmBackward0" in str(picture.svg()) and "AddmmBackward0" not in str(draw(net, x).svg())


def test_depth_says_what_stands_open(torch):
    trace = traced(program("gpt 4"), torch)

    def opened(depth):
        act = Report(trace, lang="en", depth=depth).act(-1)
        titles = {panel.box: panel.title for panel in act.panels}
        return [titles[box] for box in act.open]

    assert opened(0) == [] and opened(1) == ["gpt › tok"]
    assert opened(2) == ["gpt › blocks ×4", "gpt › blocks › 0 Block"]
    assert opened(lambda path: path == "blocks.0.mlp")[-1] == "gpt › blocks › 0 › mlp"
    assert opened(lambda path: False) == []


@pytest.mark.parametrize("lang, head", [("en", "parameter"), ("ko", "매개변수")])
def test_a_long_update_is_a_table_of_all_parameters(library, lang, head):
    """In the order of the model, with names that differ, the gradient and how far each moved."""
    report = report_of("mlp", library, lang)
    assert update_tables(report.picture.strip.graph, lang) == []
    report = report_of("deep", library, lang)
    (table,) = update_tables(report.picture.strip.graph, lang)
    space = {"torch": library}
    exec(program("deep"), space)
    names = [name for name, _ in space["net"].named_parameters()]
    assert [row[0].split()[0] for row in table["rows"]] == [f"net.{name}" for name in names]
    assert table["heads"][0] == head and str(len(names)) in table["title"]
    grads = [parameter.grad.reshape(-1).tolist() for _, parameter in space["net"].named_parameters()]
    rms = [(sum(n * n for n in each) / len(each)) ** 0.5 for each in grads]
    assert [row[2] for row in table["rows"]] == [f"rms {short(each)}" for each in rms]
    assert float(table["rows"][-1][4].removeprefix("≈ ")) > 0


# What a reader is asked of the first screen, with the modules that have a card each.
READ = {
    "mlp": "0 1 2",
    "lenet": "fc1 fc2 fc3",
    "lstm": "emb lstm out",
    "gpt 4": "tok pos ln head",
    "autoencoder": "encoder decoder",
    "gnn by hand": "conv1 conv2 out",
}
# The same program with the gradients of what modules return kept, and what the parameters were.
ASKED = """
model = next(each for each in list(globals().values()) if isinstance(each, torch.nn.Module))
outputs = {}
def keep(path):
    def hook(module, inputs, output):
        outputs[path] = output[0] if isinstance(output, tuple) else output
        outputs[path].retain_grad()
    return hook
for path, module in model.named_modules():
    module.register_forward_hook(keep(path))
before = {name: each.detach().clone() for name, each in model.named_parameters()}
"""


@pytest.mark.parametrize("name", READ)
def test_a_reader_finds_in_the_first_screen_what_is_asked(name, torch):
    """Which layer has the largest gradient, which parameter moved most, and where the loss comes from: read
    off the resting picture, and as PyTorch has it."""
    source = program(name)
    picture = report_of(name, torch).picture
    svg = str(picture.svg())
    space = {"torch": torch}
    exec(source[: source.rindex("\nloss = ")], space)
    exec(ASKED, space)
    exec(source[source.rindex("\nloss = ") :], space)

    # The largest gradient: the bar with the largest number below the card of a module.
    cards = svg.split('<g class="station strip ')[1:]
    heads = [
        " ".join(re.findall(r'class="name"[^>]*>([^<]*)', card.split('class="known"')[0])) for card in cards
    ]
    bars = [re.findall(r'class="bars".*?</g></g>', card) for card in cards]
    shown = {
        head: [float(n) for n in re.findall(r">([\d.e-]+)</text>", bar[0])]
        for head, bar in zip(heads, bars)
        if bar
    }
    modules = [next(head for head in shown if head.split(" ")[0] == path) for path in READ[name].split()]
    rms = {path: float(space["outputs"][path].grad.square().mean().sqrt()) for path in READ[name].split()}
    largest = max(modules, key=lambda head: shown[head][0])
    assert largest.split(" ")[0] == max(rms, key=rms.get)
    for head, path in zip(modules, rms):
        assert shown[head] == [float(short(rms[path]))], head

    # What moved most beside what it was.
    after = dict(space["model"].named_parameters())
    sizes = {path: float(was.norm()) for path, was in space["before"].items()}
    moved = {
        path: float((after[path] - was).norm()) / sizes[path]
        for path, was in space["before"].items()
        if sizes[path]
    }
    said = re.search(r">moved most: \w+\.([\w.]+), (?:≈ )?([\d.e-]+) of its size<", svg)
    assert said[1] == max(moved, key=moved.get)
    assert float(said[2]) == pytest.approx(moved[said[1]], rel=0.06)

    # The loss: its number and the function that made it.
    (loss,) = [card for card in cards if card.startswith("root loss")]
    words = "".join(re.findall(r'class="kind"[^>]*>([^<]*)', loss))
    assert words and words in source
    number = re.findall(r'class="name"[^>]*>(-?[\d.e-]+)<', loss)
    assert float(number[0]) == pytest.approx(float(space["loss"]), rel=1e-3)
