"""Pictures of the subject in the details of a strip: what they show is what the libraries computed."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from cells import traced

from minigrad_viz.drawing.detail import BROAD, DetailDrawing, DetailPicture
from minigrad_viz.drawing.subject_kinds import SUBJECTS, subjects_of
from minigrad_viz.drawing.subjects import grid_of
from minigrad_viz.model.strip_insides import opened_cards
from minigrad_viz.model.tokens import same_pattern, strings_of
from minigrad_viz.protocol import CORNER, SIDE, value_from
from minigrad_viz.shell.report import Report

CNN = """
torch.manual_seed(0)
nn, F = torch.nn, torch.nn.functional
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.fc = nn.Linear(36, 10)
    def forward(self, x):
        h = self.bn(self.conv(x)).relu()
        h = F.max_pool2d(h, 2)
        return self.fc(h.flatten(1))
net = Net()
x = torch.rand(2, 1, 8, 8)
y = torch.tensor([3, 7])
loss = F.cross_entropy(net(x), y)
loss.backward()
"""
ATTENTION = """
torch.manual_seed(0)
nn, F = torch.nn, torch.nn.functional
text = "the_cat"
chars = sorted(set(text))
class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / (C // self.heads) ** 0.5
        scores = scores.masked_fill(torch.tril(torch.ones(T, T)) == 0, float("-inf"))
        att = scores.softmax(-1)
        out = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.proj(out)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(len(chars), 8)
        self.ln = nn.LayerNorm(8)
        self.attn = Attention(8, 2)
        self.head = nn.Linear(8, len(chars))
    def forward(self, idx):
        return self.head(self.attn(self.ln(self.tok(idx))))
model = Model()
x = torch.tensor([[chars.index(c) for c in text]])
loss = F.cross_entropy(model(x).view(-1, len(chars)), x.view(-1))
loss.backward()
"""


def details_of(cell, library, lang="en"):
    report = Report(traced(cell, library), lang=lang)
    (strip,) = (strip for strip in report._acts.strips if strip is not None)
    return report, {way: detail for _, way, detail in opened_cards(strip)}


def subject(cell, library, way, lang="en"):
    _, details = details_of(cell, library, lang)
    detail = next(d for name, d in details.items() if name.endswith(way))
    return subjects_of(detail, lang)[0]


def ran(cell, library):
    space = {"torch": library}
    exec(cell, space)
    return space


def test_an_attention_has_its_weights_and_gradients_by_tokens(library):
    found = subject(ATTENTION, library, "attn")
    weights, back, scores = found.panels()
    assert weights.tokens == (list("the_cat"), list("the_cat"))
    assert len(weights.planes) == len(found.thumbs()) == 2  # heads
    for plane in weights.planes:
        np.testing.assert_allclose(plane.sum(1), 1, rtol=1e-5)
        assert not np.triu(plane, 1).any()
    for a, g, s in zip(weights.planes, back.planes, scores.planes, strict=True):
        np.testing.assert_allclose(s, a * (g - (a * g).sum(1, keepdims=True)), rtol=1e-3, atol=1e-7)
    assert any(line.startswith("query ") for line in found.readout())


def test_without_its_text_an_attention_has_positions(library):
    cell = ATTENTION.replace('text = "the_cat"', "text = [3, 1, 2, 0, 4, 5, 3]")
    cell = cell.replace("chars = sorted(set(text))", "chars = list(range(6))")
    weights = subject(cell, library, "attn").panels()[0]
    assert list(weights.tokens[0]) == [str(i) for i in range(7)]


def test_a_convolution_shows_kernel_window_and_gradients(library):
    found = subject(CNN, library, "conv")
    kernel, image, output, came, grad = found.panels()
    space = ran(CNN, library)
    net = space["net"]
    for i in range(4):
        np.testing.assert_allclose(kernel.planes[i], net.conv.weight.detach().numpy()[i, 0], rtol=1e-5)
        np.testing.assert_allclose(grad.planes[i], net.conv.weight.grad.numpy()[i, 0], rtol=1e-3, atol=1e-6)
        row, column, high, wide = image.marks[i]
        assert (high, wide) == output.planes[i].shape  # what one number of the kernel saw
        saw = image.planes[i][int(row) : int(row + high), int(column) : int(column + wide)]
        summed = (saw * came.planes[i]).sum()  # of the first sample
        second = space["x"].numpy()[1, 0][int(row) : int(row + high), int(column) : int(column + wide)]
        spot = grad.marks[i]
        assert saw.shape == second.shape and (spot[0], spot[1]) == (row, column)
        assert np.isfinite(summed)


def test_classes_are_softmax_and_one_hot(library):
    found = subject(CNN, library, "loss")
    space = ran(CNN, library)
    expected = space["net"](space["x"]).detach().softmax(1).numpy()
    np.testing.assert_allclose(found.shares, expected, rtol=1e-3)
    assert found.labels == [3, 7]
    assert found.sentence(0).startswith("label 3 has ")


def test_a_normalization_has_the_numbers_before_and_after(library):
    found = subject(CNN, library, "bn")
    assert found.outline_facts()[1] == "after mean 0, std 1"


def test_masks_let_through_what_is_above_zero(library):
    output, mask, arrives, leaves = subject(CNN, library, "relu").panels()
    for values, seen, came, sent in zip(
        output.planes, mask.planes, arrives.planes, leaves.planes, strict=True
    ):
        np.testing.assert_array_equal(seen, values > 0)
        np.testing.assert_allclose(sent, came * seen, rtol=1e-6)


def test_a_pool_gives_the_gradient_to_the_winners(library):
    found = subject(CNN, library, "max_pool2d")
    image, winners, output, arrives, leaves = found.panels()
    for i in range(found.count):
        assert winners.planes[i].sum() == output.planes[i].size
        np.testing.assert_allclose(
            np.sort(image.planes[i][winners.planes[i] > 0]), np.sort(output.planes[i].reshape(-1)), rtol=1e-6
        )
        np.testing.assert_allclose(leaves.planes[i].sum(), arrives.planes[i].sum(), rtol=1e-4, atol=1e-7)


def test_an_embedding_has_the_rows_that_were_used(library):
    found = subject(ATTENTION, library, "tok")
    rows, grads = found.panels()
    space = ran(ATTENTION, library)
    weight, ids = space["model"].tok.weight.detach().numpy(), space["x"].numpy()[0]
    np.testing.assert_allclose(rows.planes[0], weight[ids], rtol=1e-5)
    assert [name.split()[0] for name in rows.tokens[0]] == list("the_cat")
    twice = space["chars"].index("t")
    assert found.readout() == [f"looked up several times: row {twice}"]
    total = grads.planes[0][ids == twice].sum(0)
    np.testing.assert_allclose(total, space["model"].tok.weight.grad.numpy()[twice], rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("cell", [CNN, ATTENTION], ids=["cnn", "attention"])
def test_a_narrow_window_has_all_subjects(cell, library):
    """Maps go on in a further row, and of many classes a sample has bars: nothing is left out."""
    report, details = details_of(cell, library)
    for way, detail in details.items():
        for form in DetailPicture(detail, report.picture).forms():
            tree = ElementTree.fromstring(str(form.svg()))
            found = sum("subject of-" in (g.get("class") or "") for g in tree.iter())
            assert found == len(subjects_of(detail, "en")), (way, form.across)
            assert float(tree.get("width")) <= form.across


CHANNELS = """
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)
first, last = nn.Conv2d(2, 4, 3, padding=1, groups=2), nn.ConvTranspose2d(4, 3, 2, 2)
net = nn.Sequential(first, nn.GroupNorm(2, 4), last)
x = torch.randn(1, 2, 6, 6)
loss = (net(x) ** 3).mean()
loss.backward()
"""


def test_a_group_of_channels_saw_its_own_input(library):
    found = subject(CHANNELS, library, "0 Conv2d")
    _, image, _, came, grad = found.panels()
    x = ran(CHANNELS, library)["x"].numpy()[0]
    for i in range(4):
        np.testing.assert_allclose(image.planes[i], x[i // 2], rtol=1e-5)
        spot = grad.marks[i]
        padded = np.pad(x[i // 2], 1)[int(spot[0]) : int(spot[0]) + 6, int(spot[1]) : int(spot[1]) + 6]
        total = (padded * came.planes[i]).sum()
        assert total == pytest.approx(grad.planes[i][int(spot[0]), int(spot[1])], rel=1e-3)


def test_a_transposed_convolution_has_its_window_in_the_output(library):
    found = subject(CHANNELS, library, "2 ConvTranspose2d")
    _, image, output, came, grad = found.panels()
    assert not image.marks and output.marks == came.marks
    assert came.marks
    for i in range(len(came.marks)):
        (row, column, _, _), spot = came.marks[i], grad.marks[i]
        assert (row, column) == (spot[0], spot[1])
        total = (image.planes[i] * came.planes[i][int(row) :: 2, int(column) :: 2]).sum()
        assert total == pytest.approx(grad.planes[i][int(spot[0]), int(spot[1])], rel=1e-3)


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("cell", [CNN, ATTENTION], ids=["cnn", "attention"])
def test_pictures_are_whole(cell, lang, library):
    """Every part lies inside its picture, no text is small, and each subject says what it is."""
    report, details = details_of(cell, library, lang)
    outline = report.picture.outline()
    kinds = set()
    for way, detail in details.items():
        svg = DetailPicture(detail, report.picture).svg()
        tree = ElementTree.fromstring(str(svg))
        wide, high = float(tree.get("width")), float(tree.get("height"))
        for part in tree.iter():
            x, y = part.get("x"), part.get("y")
            if x is not None and y is not None:
                assert 0 <= float(x) <= wide and -1 <= float(y) <= high, (way, part.attrib)
        found = subjects_of(detail, lang)
        kinds |= {type(each) for each in found}
        assert sum("subject of-" in (g.get("class") or "") for g in tree.iter()) == len(found)
        for each in found:
            assert each.describe() and each.outline() in outline
    assert len(kinds) >= 4 and kinds <= set(SUBJECTS)


@pytest.mark.parametrize("cell", [CNN, ATTENTION], ids=["cnn", "attention"])
def test_a_number_at_an_arrow_touches_no_station(cell, library):
    _, details = details_of(cell, library)
    for way, detail in details.items():
        drawing = DetailDrawing(detail, "p-", "en", "en", BROAD)
        drawing.svg("light")
        for x, y, width in drawing.stand:
            for box in drawing.boxes.values():
                apart = x + width / 2 <= box.x or x - width / 2 >= box.x + box.width
                assert apart or y + 8 <= box.y or y - 8 >= box.y + box.height, (way, box.name)


@pytest.mark.parametrize("cell", [CNN, ATTENTION], ids=["cnn", "attention"])
def test_stations_of_a_detail_have_names_of_the_code(cell, library):
    _, details = details_of(cell, library)
    code = re.sub(r"\s", "", cell)
    for way, detail in details.items():
        drawing = DetailDrawing(detail, "p-", "en", "en", BROAD)
        names = [box.name for box in drawing.boxes.values()]
        assert len(set(names)) == len(names), (way, names)
        for box in drawing.boxes.values():
            assert " · " not in box.name and "(head · view)" not in box.name
            if not box.outside:
                assert not box.name.startswith("result ")
                first = re.match(r"\(?(\w+)", box.name)[1]
                assert re.sub(r"\s", "", box.name) in code or first in code or first == "log_softmax"
    assert ("q @ k.transpose(-2, -1)" in names_of(details)) == ("q @ k" in cell)


def names_of(details):
    return [s.cards[0].expr for detail in details.values() for s in detail.graph.stations]


@pytest.mark.quick
def test_a_corner_is_what_it_says():
    data = np.arange(2 * 3 * 40 * 5.0).reshape(2, 3, 40, 5)
    value = value_from(data, "float64")
    corner, grid = value.summary.corner, grid_of(value)
    assert len(corner.items) <= CORNER and corner.rows <= SIDE and value.consistent()
    assert (corner.down, corner.across) == (3, 1) and not grid.whole and grid.count == 3
    np.testing.assert_array_equal(grid.planes[1], data[0, 1, ::3])
    assert grid_of(value_from(np.arange(100.0), "float64")) is None
    small = grid_of(value_from(data[0, 0, :4], "float64"))
    assert small.whole and (small.planes[0] == data[0, 0, :4]).all()


@pytest.mark.quick
def test_a_text_belongs_to_indices_that_repeat_as_its_letters_do():
    assert same_pattern("the_cat", (5, 4, 3, 0, 2, 1, 5))
    assert not same_pattern("the_cat", (5, 4, 3, 0, 2, 1, 4))
    assert not same_pattern("the_cap", (5, 4, 3, 0, 2, 1, 5))
    source = 'text = "the_cat"\nencode("a dog")\ndef f():\n    """Doc."""\n'
    assert list(strings_of(source)) == ["the_cat", "a dog"]
