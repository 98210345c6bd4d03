"""What the model of a loop computes, round by round, against the model itself."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cells import traced

import minigrad as torch
from minigrad_viz.player.learning import learning_of

pytestmark = pytest.mark.quick

LINE = """x = torch.tensor([[0.], [1.], [2.], [3.]])
y = 2 * x + 1
w = torch.tensor([[0.5]], requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for i in range(4):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.05 * w.grad
        b -= 0.05 * b.grad
        w.grad = None
        b.grad = None
"""
NETWORK = """nn = torch.nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, {out}))
optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
X = torch.randn(16, 2)
Y = (X[:, 0] * X[:, 1] > 0){target}
for i in range(5):
    optimizer.zero_grad()
    loss = nn.functional.{loss}
    loss.backward()
    optimizer.step()
"""
CLASSES = NETWORK.format(out=2, target=".long()", loss="cross_entropy(model(X), Y)")
LOGITS = NETWORK.format(
    out=1, target=".float()", loss="binary_cross_entropy_with_logits(model(X).squeeze(1), Y)"
)
SPIRAL = """nn = torch.nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
X = torch.randn(200, 2)
Y = (X[:, :1] * X[:, 1:] > 0).float()
for i in range(5):
    optimizer.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(model(X), Y)
    loss.backward()
    optimizer.step()
"""
SINE = """torch.manual_seed(0)
x = torch.linspace(-3, 3, 100).reshape(-1, 1)
y = torch.sin(x)
W1, b1 = torch.randn(32, 1, requires_grad=True), torch.zeros(32, requires_grad=True)
W2 = (0.1 * torch.randn(32, 32)).requires_grad_()
W3 = (0.1 * torch.randn(1, 32)).requires_grad_()
for i in range(4):
    h = torch.relu(torch.tanh(x @ W1.T + b1) @ W2.T)
    loss = ((h @ W3.T - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (W1, b1, W2, W3):
            p -= 0.1 * p.grad
            p.grad = None
"""
CLASSES_ALONE = """F = torch.nn.functional
W = torch.zeros(5, 5, requires_grad=True)
before, after = torch.tensor([0, 1, 2, 3]), torch.tensor([1, 2, 3, 4])
for i in range(4):
    loss = F.cross_entropy(W[before], after)
    loss.backward()
    with torch.no_grad():
        W -= 5 * W.grad
        W.grad = None
"""


IMAGES = """nn = torch.nn
torch.manual_seed(0)
X = torch.rand(12, 2, 4, 5)
Y = torch.arange(12) % 3
model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(18, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for i in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), Y)
    loss.backward()
    optimizer.step()
"""
LETTERS = """text = "hello, hello"
letters = sorted(set(text))
ids = torch.tensor([letters.index(c) for c in text])
nn = torch.nn
torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(6, 8), nn.Linear(8, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
for i in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(ids[:-1]), ids[1:])
    loss.backward()
    optimizer.step()
"""


@pytest.fixture(params=["minigrad", "torch"])
def library(request):
    return pytest.importorskip(request.param)


def learning(cell: str, rounds: int, library=torch):
    return learning_of(traced(cell, library), range(1, rounds + 1), "en")


def test_the_curve_over_one_input(library):
    told = learning(LINE, 4, library)
    assert (told["kind"], told["x"], told["y"]) == ("curve", ["x"], "y")
    assert told["points"] == [[0, 1], [1, 3], [2, 5], [3, 7]]
    w, b = 0.5, 0.0
    x = np.array([0.0, 1, 2, 3])
    for xs, ys in told["rounds"]:
        assert min(xs) < 0 and max(xs) > 3
        assert np.allclose(ys, w * np.array(xs) + b, atol=1e-3)
        far = w * x + b - (2 * x + 1)
        w, b = w - 0.05 * 2 * (far * x).mean(), b - 0.05 * 2 * far.mean()


def classes_of(row: str) -> list[int]:
    """The class of each cell of a row."""
    return [
        ord(kind) - ord("a") for kind, count in re.findall(r"([a-j])(\d+)", row) for _ in range(int(count))
    ]


def test_the_curve_of_a_network_of_ordinary_size(library):
    told = learning(SINE, 4, library)
    space: dict = {"torch": library}
    exec(SINE.replace("range(4)", "range(3)"), space)
    xs, ys = told["rounds"][-1]
    x = library.tensor(xs).reshape(-1, 1)
    h = library.relu(library.tanh(x @ space["W1"].T + space["b1"]) @ space["W2"].T)
    assert told["kind"] == "curve" and len(told["points"]) == 100
    assert np.allclose(ys, (h @ space["W3"].T).detach().numpy().ravel(), atol=1e-3)


@pytest.mark.parametrize("cell", [CLASSES, LOGITS, SPIRAL], ids=["classes", "logits", "200 examples"])
def test_the_plane_is_what_the_model_predicts_there(cell, library):
    told = learning(cell, 5, library)
    assert told["kind"] == "plane" and told["x"] == ["X[:, 0]", "X[:, 1]"]
    space: dict = {"torch": library}
    exec(cell.replace("range(5)", "range(4)"), space)  # the last round begins after four updates
    left, right, bottom, top = told["box"]
    found = np.array([classes_of(row) for row in told["rounds"][-1]])
    high, wide = found.shape
    across = left + (np.arange(wide) + 0.5) * (right - left) / wide
    up = top - (np.arange(high) + 0.5) * (top - bottom) / high
    scores = (
        space["model"](library.tensor([[[a, b] for a in across.tolist()] for b in up.tolist()]))
        .detach()
        .numpy()
    )
    expected = scores.argmax(-1) if scores.shape[-1] > 1 else (scores[..., 0] > 0).astype(int)
    assert found.shape == (90, 120) and (found != expected).mean() < 0.01, "between two nodes it is a line"
    assert 0 < found.mean() < 1 and told["rounds"][0] != told["rounds"][-1]
    assert [kind for *_, kind in told["points"]] == space["Y"].long().ravel().tolist()


def test_bars_of_classes(library):
    told = learning(CLASSES_ALONE, 4, library)
    assert (told["kind"], told["names"]) == ("bars", [])
    assert [[(right, seen) for right, _, seen in each] for each in told["rounds"]] == [
        [(1, ""), (2, ""), (3, ""), (4, "")]
    ] * 4
    shares = np.array([[share for _, share, _ in each] for each in told["rounds"]])
    assert shares.shape == (4, 4, 5) and np.allclose(shares.sum(-1), 1, atol=1e-3)
    assert np.allclose(shares[0], 0.2)
    right = shares[:, range(4), [1, 2, 3, 4]]
    assert (np.diff(right, axis=0) > 0).all(), "the right class becomes more probable"


def test_images_with_what_the_model_says_of_them(library):
    told = learning(IMAGES, 4, library)
    assert told["kind"] == "images" and len(told["rounds"]) == 4
    space: dict = {"torch": library}
    exec(IMAGES.replace("range(4)", "range(3)"), space)  # the last round begins after three updates
    shares = library.softmax(space["model"](space["X"]), 1).detach().numpy()
    images = np.asarray(space["X"])[:, 0]
    for i, (right, share, (columns, shades)) in enumerate(told["rounds"][-1]):
        assert right == i % 3 and np.allclose(share, shares[i], atol=1e-4)
        found = np.array([int(shade) for shade in shades]).reshape(-1, columns) / 9
        assert found.shape == (4, 5) and np.abs(found - images[i]).max() < 0.12


def test_the_next_letter(library):
    told = learning(LETTERS, 4, library)
    assert (told["kind"], told["names"]) == ("letters", [" ", ",", "e", "h", "l", "o"])
    assert [(seen, told["names"][right]) for right, _, seen in told["rounds"][-1]] == [
        ("h", "e"), ("e", "l"), ("l", "l"), ("l", "o")
    ]  # fmt: skip
    first, last = ([share[right] for right, share, _ in told["rounds"][i]] for i in (0, -1))
    assert sum(last) > 2 * sum(first)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sorted(set(text))", "sorted(set(text), reverse=True)"),
        ('"hello, hello"', "''.join(map(chr, [104, 101, 108, 108, 111, 44, 32, 104, 101, 108, 108, 111]))"),
    ],
    ids=["order", "text"],
)
def test_classes_are_no_letters_that_the_source_does_not_show(old, new):
    told = learning(LETTERS.replace(old, new), 4)
    assert told["kind"] == "bars" and {seen for _, _, seen in told["rounds"][0]} == {""}


OTHER_DATA = LINE.replace("loss = ((x", "x = x + 0.1\n    loss = ((x")
MANY_INPUTS = LINE.replace("[[0.], [1.], [2.], [3.]]", "[[0., 1., 2.]] * 4").replace(
    "[[0.5]]", "[[0.5], [1.], [2.]]"
)
SCALAR = "x = torch.tensor(1., requires_grad=True)\nfor i in range(3):\n    (x * x).backward()\n"
TOO_MANY = LINE.replace("torch.tensor([[0.], [1.], [2.], [3.]])", "torch.rand(3000, 1)")


@pytest.mark.parametrize(
    "cell", [OTHER_DATA, MANY_INPUTS, SCALAR, TOO_MANY], ids=["other", "inputs", "scalar", "many"]
)
def test_nothing_is_shown_that_is_not_known(cell):
    assert learning(cell, 3) is None


def test_a_model_that_is_not_computed_again_keeps_its_recorded_points():
    told = learning(LINE.replace("x @ w + b - y", "torch.erf(x @ w + b) - y"), 4)
    assert told["rounds"][0][0] == [0, 1, 2, 3], "erf is not among the operations that are computed again"
