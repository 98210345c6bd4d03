"""Typical mistakes with layers that are given an input of the wrong shape."""

from __future__ import annotations

from .mistake import Mistake

PERCEPTRON = """\
torch.manual_seed(0)
X = torch.randn(8, 3)
Y = X.sum(dim=1, keepdim=True)
model = torch.nn.Sequential(
    torch.nn.Linear(3, 16),
    torch.nn.Tanh(),
    torch.nn.Linear(16, 1),
)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(20):
    opt.zero_grad()
    loss = ((model(X) - Y) ** 2).mean()
    loss.backward()
    opt.step()
"""
LEARNED = "loss.item() < 2"
CURVE = """\
torch.manual_seed(0)
x = torch.linspace(-1, 1, 8)
model = torch.nn.Linear(1, 4)
y = model(x.unsqueeze(1))
y.sum().backward()
"""
IMAGES = """\
torch.manual_seed(0)
images = torch.randn(2, 3, 8, 8)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.fc = torch.nn.Linear(144, 5)
    def forward(self, x):
        h = torch.relu(self.conv(x))
        h = h.flatten(1)
        return self.fc(h)
net = Net()
out = net(images)
out.sum().backward()
"""
SEEN = "tuple(out.shape) == (2, 5) and net.conv.weight.grad is not None"
PIXELS = """\
torch.manual_seed(0)
images = torch.randn(4, 1, 6, 6)
fc = torch.nn.Linear(36, 5)
out = fc(images.flatten(1))
out.sum().backward()
"""
GRAY = """\
torch.manual_seed(0)
pictures = torch.randn(4, 6, 6)
conv = torch.nn.Conv2d(1, 2, 3)
out = conv(pictures.unsqueeze(1))
out.sum().backward()
"""
CONVOLVED = "conv.weight.grad is not None and out.shape[1] == 2"
COLORS = (
    GRAY.replace("4, 6, 6", "2, 6, 6, 3")
    .replace("(1, 2, 3)", "(3, 2, 3)")
    .replace("unsqueeze(1)", "permute(0, 3, 1, 2)")
)
NORMED = """\
torch.manual_seed(0)
x = torch.randn(8, 3)
fc = torch.nn.Linear(3, 6)
norm = torch.nn.BatchNorm1d(6)
y = norm(fc(x))
(y ** 2).mean().backward()
"""
SEQUENCE = """\
torch.manual_seed(0)
lstm = torch.nn.LSTM(4, 5)
x = torch.randn(7, 2, 4)
out, state = lstm(x)
out.sum().backward()
"""
FILTERED = """\
torch.manual_seed(0)
x = torch.randn(4, 3, 6, 6)
w = torch.randn(2, 3, 3, 3, requires_grad=True)
y = torch.nn.functional.conv2d(x, w)
y.sum().backward()
"""
STACKED = """\
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.LSTM(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
x = torch.randn(5, 2, 3)
y = model[1:](model[0](x)[0])
y.sum().backward()
"""
BLOCK = """\
class Block(torch.nn.Module):
    def forward(self, x):
        h = torch.relu(x)
        return h
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), Block(), torch.nn.Linear(4, 1))
y = model(torch.randn(5, 3))
y.sum().backward()
"""
WORDS = """\
torch.manual_seed(0)
ids = torch.tensor([0, 3, 9])
table = torch.nn.Embedding(10, 4)
rows = table(ids)
rows.sum().backward()
"""

MISTAKES = {
    "layers that do not fit": Mistake(
        PERCEPTRON, "Linear(16, 1)", "Linear(8, 1)", "layer_input", 7,
        "model.2 (Linear 8→1): in_features is 8, but the input (1 tanh) is 8×16",
        "`torch.nn.Linear(8, 1)`. If this layer is right, change its input instead. In line 5, write",
        ("Linear(8, 1)", "Linear(16, 1)"), LEARNED,
    ),
    "data of another width": Mistake(
        PERCEPTRON, "Linear(3, 16)", "Linear(4, 16)", "layer_input", 5,
        "model.0 (Linear 4→16): in_features is 4, but the input (X) is 8×3",
        "If this layer is right, change its input instead. In line 2, create X with a size that fits",
        ("Linear(4, 16)", "Linear(3, 16)"), LEARNED,
    ),
    "points without a second dimension": Mistake(
        CURVE, "x.unsqueeze(1)", "x", "layer_input", 4, "the input (x) is a vector of length 8",
        "`y = model(x.unsqueeze(1))`", 4, "tuple(y.shape) == (8, 4)",
    ),
    "flat features of another size": Mistake(
        IMAGES, "Linear(144, 5)", "Linear(100, 5)", "layer_input", 7,
        "net.fc (Linear 100→5): in_features is 100, but the input (h) is 2×144",
        "In line 7, write `torch.nn.Linear(144, 5)`", ("Linear(100, 5)", "Linear(144, 5)"), SEEN,
    ),
    "images of another color": Mistake(
        IMAGES, "Conv2d(3, 4, 3)", "Conv2d(1, 4, 3)", "layer_input", 6,
        "in_channels is 1, but the input (x (images)) is 2×3×8×8",
        "In line 6, write `torch.nn.Conv2d(3, 4, 3)`",
        ("Conv2d(1, 4, 3)", "Conv2d(3, 4, 3)"), SEEN,
    ),
    "images that are not flattened": Mistake(
        PIXELS, "images.flatten(1)", "images", "layer_input", 4, "the input (images) is 4×1×6×6",
        "`out = fc(images.flatten(1))`", 4, "tuple(out.shape) == (4, 5)",
    ),
    "an image that is not flattened": Mistake(
        PIXELS.replace("4, 1, 6, 6", "6, 6").replace("flatten(1)", "flatten()"), "images.flatten()", "images",
        "layer_input", 4, "the input (images) is 6×6", "`out = fc(images.flatten())`", 4,
        "tuple(out.shape) == (5,)",
    ),
    "gray images without channels": Mistake(
        GRAY, ".unsqueeze(1)", "", "layer_input", 4, "in_channels is 1, but the input (pictures) is 4×6×6",
        "`out = conv(pictures.unsqueeze(1))`", 4, CONVOLVED,
    ),
    "channels last": Mistake(
        COLORS, ".permute(0, 3, 1, 2)", "", "layer_input", 4,
        "in_channels is 3, but the input (pictures) is 2×6×6×3, whose size in dimension 1",
        "`out = conv(pictures.permute(0, 3, 1, 2))`", 4, CONVOLVED,
    ),
    "a kernel that is too large": Mistake(
        GRAY, "Conv2d(1, 2, 3)", "Conv2d(1, 2, 9)", "layer_input", 3, "the kernel is 9×9",
        "`torch.nn.Conv2d(1, 2, 9, padding=4)`", ("Conv2d(1, 2, 9)", "Conv2d(1, 2, 9, padding=4)"), CONVOLVED,
    ),
    "a norm of another size": Mistake(
        NORMED, "BatchNorm1d(6)", "BatchNorm1d(3)", "layer_input", 4, "created for size 3",
        "In line 4, write `torch.nn.BatchNorm1d(6)`", ("BatchNorm1d(3)", "BatchNorm1d(6)"),
        "norm.weight.grad is not None",
    ),
    "a norm for images": Mistake(
        NORMED, "BatchNorm1d(6)", "BatchNorm2d(6)", "layer_input", 4, "takes 4 dimensions",
        "In line 4, write `torch.nn.BatchNorm1d(6)`", ("BatchNorm2d(6)", "BatchNorm1d(6)"),
        "norm.weight.grad is not None",
    ),
    "filters for another number of channels": Mistake(
        FILTERED, "torch.randn(2, 3, 3, 3,", "torch.randn(2, 1, 3, 3,", "layer_input", 3,
        "the weight w is 2×1×3×3, so it takes 1 channels, but x is 4×3×6×6, whose size in dimension 1",
        "In line 3, create w with a size that fits: `w = torch.randn(2, 3, 3, 3, requires_grad=True)`", 3,
        "tuple(y.shape) == (4, 2, 4, 4) and w.grad is not None",
    ),
    "an LSTM between layers": Mistake(
        STACKED, "model[1:](model[0](x)[0])", "model(x)", "several_values", 4,
        "model.0 (LSTM) returns several values as a tuple, but the next layer takes one tensor",
        "`y = model[1:](model[0](x)[0])`", 4, "tuple(y.shape) == (5, 2, 1)",
    ),
    "a layer without return": Mistake(
        BLOCK, "        return h\n", "", "none_value", 6,
        "model.1 (Block) returned None, because its forward() has no return statement",
        "after line 3, add `return h`", ("torch.relu(x)\n", "torch.relu(x)\n        return h\n"),
        "tuple(y.shape) == (5, 1)",
    ),
    "a sequence of another width": Mistake(
        SEQUENCE, "LSTM(4, 5)", "LSTM(7, 5)", "layer_input", 2, "created for size 7",
        "In line 2, write `torch.nn.LSTM(4, 5)`", ("LSTM(7, 5)", "LSTM(4, 5)"),
        "tuple(out.shape) == (7, 2, 5)",
    ),
    "a table that is too short": Mistake(
        WORDS, "Embedding(10, 4)", "Embedding(9, 4)", "index_range", 3, "ids holds the index 9",
        "If the table is right, use only indices from 0 to 8", ("Embedding(9, 4)", "Embedding(10, 4)"),
        "tuple(rows.shape) == (3, 4)",
    ),
}  # fmt: skip
