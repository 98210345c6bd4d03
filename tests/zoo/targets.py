"""Typical mistakes with the targets of losses."""

from __future__ import annotations

from .mistake import Mistake

CLASSES = """\
torch.manual_seed(0)
X = torch.randn(6, 2)
y = torch.tensor([0, 1, 2, 0, 1, 2])
model = torch.nn.Linear(2, 3)
logits = model(X)
loss = torch.nn.functional.cross_entropy(logits, y)
loss.backward()
"""
CRITERION = """\
torch.manual_seed(0)
X = torch.randn(6, 2)
y = torch.tensor([0, 1, 2, 0, 1, 2])
model = torch.nn.Linear(2, 3)
criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
loss = criterion(model(X), y)
loss.backward()
"""
LIKELIHOOD = """\
torch.manual_seed(0)
F = torch.nn.functional
scores = torch.randn(4, 3, requires_grad=True)
y = torch.tensor([0, 2, 1, 2])
loss = F.nll_loss(torch.log_softmax(scores, dim=1), y)
loss.backward()
"""
TOKENS = """\
torch.manual_seed(0)
logits = torch.randn(2, 5, 4, requires_grad=True)
y = torch.randint(0, 4, (2, 5))
loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), y.reshape(-1))
loss.backward()
"""
SEQUENCES = TOKENS.replace("logits.flatten(0, 1), y.reshape(-1)", "logits.transpose(1, 2), y")
YES = """\
torch.manual_seed(0)
x = torch.randn(6, 2)
y = torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
model = torch.nn.Linear(2, 1)
criterion = torch.nn.BCEWithLogitsLoss()
loss = criterion(model(x), y.unsqueeze(1))
loss.backward()
"""
CHANCES = """\
torch.manual_seed(0)
z = torch.linspace(-2, 2, 4).requires_grad_()
y = torch.tensor([1.0, 0.0, 1.0, 0.0])
loss = torch.nn.functional.binary_cross_entropy(torch.sigmoid(z), y)
loss.backward()
"""
SQUARES = """\
torch.manual_seed(0)
x = torch.randn(6, 3)
y = torch.randn(6, 2)
model = torch.nn.Linear(3, 2)
loss = torch.nn.functional.mse_loss(model(x), y)
loss.backward()
"""
LEARNS = "model.weight.grad is not None and loss.item() > 0"
SCORED = "scores.grad is not None"
TOLD = "logits.grad is not None"

MISTAKES = {
    "classes as fractions": Mistake(
        CLASSES, "[0, 1, 2, 0, 1, 2]", "[0.0, 1, 2, 0, 1, 2]", "target_dtype", 6,
        "y is float32, but cross_entropy takes the index of the right class",
        "`loss = torch.nn.functional.cross_entropy(logits, y.long())`", 6, LEARNS,
    ),
    "classes from 1": Mistake(
        CLASSES, "[0, 1, 2, 0, 1, 2]", "[1, 2, 3, 1, 2, 3]", "target_class", 6,
        "y holds the class 3, but logits is 6×3, so there are 3 classes, 0 to 2",
        "`loss = torch.nn.functional.cross_entropy(logits, y - 1)`", 6, LEARNS,
    ),
    "one class more than outputs": Mistake(
        CLASSES, "Linear(2, 3)", "Linear(2, 2)", "target_class", 4, "so there are 2 classes",
        "In line 4, write `torch.nn.Linear(2, 3)`", ("Linear(2, 2)", "Linear(2, 3)"), LEARNS,
    ),
    "-1 for padding": Mistake(
        CRITERION, "[0, 1, 2, 0, 1, 2]", "[0, 1, 2, 0, 1, -1]", "target_class", 5, "holds the class -1",
        "`torch.nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=-1)`",
        ("label_smoothing=0.1", "label_smoothing=0.1, ignore_index=-1"), LEARNS,
    ),
    "classes in a column": Mistake(
        CRITERION, "[0, 1, 2, 0, 1, 2]", "[[0], [1], [2], [0], [1], [2]]", "target_shape", 6,
        "y is 6×1, but CrossEntropyLoss takes one class index for each of the 6 rows",
        "`loss = criterion(model(X), y.squeeze(1))`", 6, LEARNS,
    ),
    "whole one-hot numbers": Mistake(
        CLASSES, "(logits, y)", "(logits, torch.nn.functional.one_hot(y))", "target_dtype", 6,
        "is read as the probability of each class", ".float())`", 6, LEARNS,
    ),
    "one-hot rows for nll_loss": Mistake(
        LIKELIHOOD, ", y)", ", F.one_hot(y))", "target_shape", 5, "F.one_hot(y) is 4×3, but nll_loss",
        "`loss = F.nll_loss(torch.log_softmax(scores, dim=1), F.one_hot(y).argmax(dim=1))`", 5, SCORED,
    ),
    "another number of targets": Mistake(
        LIKELIHOOD, "[0, 2, 1, 2]", "[0, 2, 1]", "target_shape", 5, "so it has 4 rows, but y is a vector",
        "one target for each row", ("[0, 2, 1]", "[0, 2, 1, 2]"), SCORED,
    ),
    "the arguments exchanged": Mistake(
        CLASSES, "(logits, y)", "(y, logits)", "target_first", 6, "the first argument, y, is int64",
        "`loss = torch.nn.functional.cross_entropy(logits, y)`", 6, LEARNS,
    ),
    "targets that are not flat": Mistake(
        TOKENS, "y.reshape(-1)", "y", "target_shape", 4, "y is 2×5", "y.reshape(-1))`", 4, TOLD,
    ),
    "predictions that are not flat": Mistake(
        SEQUENCES, "logits.transpose(1, 2)", "logits", "target_shape", 4,
        "The classes must be in dimension 1, where logits has size 5",
        "`loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), y)`", 4, TOLD,
    ),
    "a row instead of a column": Mistake(
        YES, "y.unsqueeze(1)", "y", "target_shape", 6, "model(x) is 6×1 and y is a vector of length 6",
        "`loss = criterion(model(x), y.unsqueeze(1))`", 6, LEARNS,
    ),
    "whole numbers for yes and no": Mistake(
        YES, "[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]", "[1, 0, 1, 0, 1, 0]", "target_dtype", 6,
        "is int64, but BCEWithLogitsLoss computes with floating point targets",
        "`loss = criterion(model(x), y.unsqueeze(1).float())`", 6, LEARNS,
    ),
    "sigmoid is missing": Mistake(
        CHANCES, "torch.sigmoid(z)", "z", "no_probabilities", 4, "z holds numbers from -2. to 2.",
        "`loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)`", 4, "z.grad is not None",
    ),
    "targets of another width": Mistake(
        SQUARES, "Linear(3, 2)", "Linear(3, 4)", "target_shape", 5,
        "model(x) is 6×4 and y is 6×2; predictions and target must have the same shape",
        "in the same shape", ("Linear(3, 4)", "Linear(3, 2)"), LEARNS,
    ),
    "a column minus a row": Mistake(
        YES, "criterion(model(x), y.unsqueeze(1))", "((model(x) - y) ** 2).mean()", "broadcast_loss", 6,
        "model(x) is 6×1 and y is a vector of length 6, so the difference is 6×6",
        "`loss = ((model(x) - y.unsqueeze(1)) ** 2).mean()`", 6, LEARNS,
    ),
    "a column and a row in mse_loss": Mistake(
        YES, "criterion(model(x), y.unsqueeze(1))", "torch.nn.functional.mse_loss(model(x), y)",
        "broadcast_loss", 6, "compares every prediction with every target",
        "`loss = torch.nn.functional.mse_loss(model(x), y.unsqueeze(1))`", 6, LEARNS,
    ),
    "targets that are transposed": Mistake(
        SQUARES, "torch.randn(6, 2)", "torch.randn(2, 6)", "target_shape", 5, "y is 2×6",
        "`loss = torch.nn.functional.mse_loss(model(x), y.T)`", 5, LEARNS,
    ),
}  # fmt: skip
