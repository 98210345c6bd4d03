"""`install_as_torch()`: programs that import `torch` run on minigrad. Each runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BOOK = """
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributions as distributions
import torch.optim.lr_scheduler as schedulers
from torch import optim
from torch.autograd import Function, Variable, gradcheck
from torch.distributions.categorical import Categorical
from torch.nn.parameter import Parameter
from torch.utils.data import DataLoader, TensorDataset

class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2 * g

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)
        self.scale = Parameter(torch.ones(4))

    def forward(self, x):
        return (torch.tanh(self.first(x)) * self.scale).sum(1)

net = Net()
with torch.no_grad():
    for p in net.parameters():
        p.copy_(torch.arange(p.numel(), dtype=torch.float32).reshape(p.shape) / 8)
x = torch.arange(12.0).reshape(6, 2) / 10
data = DataLoader(TensorDataset(x, x[:, 0] - x[:, 1]), batch_size=3)
opt = optim.SGD(net.parameters(), lr=0.1)
decay = schedulers.StepLR(opt, 1, gamma=0.5)
for _ in range(3):
    for inputs, targets in data:
        opt.zero_grad()
        loss = F.mse_loss(net(inputs), targets)
        loss.backward()
        opt.step()
    decay.step()
    print(f"{loss.item():.5f} {opt.param_groups[0]['lr']}")
print(net)
print(Categorical(logits=net.scale.detach()).entropy().shape, distributions.Normal(0.0, 1.0))
v = Variable(torch.tensor([2.0], dtype=torch.float64), requires_grad=True)
print(Cube.apply(v), gradcheck(Cube.apply, (v,)), isinstance(v, torch.Tensor))
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


def out(code: str) -> str:
    done = run(code)
    assert not done.returncode, done.stderr
    return done.stdout


def test_a_program_runs_as_on_pytorch() -> None:
    pytest.importorskip("torch")
    printed = out(f"import minigrad\nminigrad.install_as_torch()\n{BOOK}")
    assert printed == out(BOOK)


def test_a_program_runs_without_pytorch() -> None:
    printed = out(f"import minigrad\nminigrad.install_as_torch()\n{BOOK}\nprint(torch is minigrad)")
    assert printed.endswith("grad_fn=<CubeBackward>) True True\nTrue\n")
    assert printed.startswith("0.36883 0.05\n")


def test_modules_are_the_same_and_know_their_own_names() -> None:
    code = """
import minigrad
minigrad.install_as_torch()
minigrad.install_as_torch()
import torch.utils.checkpoint, torch.nn.functional, torch.autograd.functional
import sys
for name in ("", ".nn", ".nn.functional", ".utils.checkpoint", ".autograd.functional"):
    own = sys.modules["minigrad" + name]
    assert sys.modules["torch" + name] is own, name
    assert own.__spec__.name == own.__name__ == "minigrad" + name, own
"""
    out(code)


@pytest.mark.sample(1)
@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "line, told",
    [
        ("import torch.distributed", "minigrad has no torch.distributed (see docs/ops.md)"),
        ("from torch.nn.quantized import Linear", "minigrad has no torch.nn.quantized (see docs/ops.md)"),
        ("import torch; torch.stft", "minigrad has no torch.stft (see docs/ops.md)"),
        ("import torchvision_is_another_package", "No module named 'torchvision_is_another_package'"),
    ],
)
def test_what_minigrad_does_not_have(line: str, told: str) -> None:
    done = run(f"import minigrad\nminigrad.install_as_torch()\n{line}")
    assert done.returncode and done.stderr.strip().endswith(told)


def test_it_refuses_where_torch_was_imported() -> None:
    code = """
import sys, types
sys.modules["torch"] = other = types.ModuleType("torch")  # as `import torch` does
import minigrad
try:
    minigrad.install_as_torch()
except RuntimeError as error:
    print(error)
assert sys.modules["torch"] is other and not any("minigrad" in str(type(f)) for f in sys.meta_path)
"""
    assert "already imported in this process" in out(code)


def test_an_error_inside_a_module_is_not_hidden(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import no_such_package_at_all\n", encoding="utf-8")
    code = f"""
import minigrad
minigrad.install_as_torch()
minigrad.__path__.append({str(tmp_path)!r})
import torch.broken
"""
    assert run(code).stderr.strip().endswith("No module named 'no_such_package_at_all'")


@pytest.mark.full
def test_a_cell_is_watched_as_ever() -> None:
    """Also where `torch` is minigrad, which has none of PyTorch's inner names."""
    cell = """
from minigrad_viz import record
from minigrad_viz import explain
with record() as watched:
    x = torch.tensor(5.0, requires_grad=True)
    y = x ** 3
    y.backward()
print(watched.report.text())
try:
    y.backward()
except RuntimeError as error:
    print(explain(error))
"""
    aliased = out(f"import minigrad\nminigrad.install_as_torch()\nimport torch\n{cell}")
    assert aliased == out(f"import minigrad as torch\nimport minigrad\n\n{cell}")
    assert "75" in aliased and "retain_graph=True" in aliased


def in_shell(*cells: str) -> list[str]:
    """What cells print in an IPython shell of a new process."""
    code = f"""
import tempfile, minigrad
from pathlib import Path
from shells import Shell
with tempfile.TemporaryDirectory() as folder, Shell(Path(folder)) as shell:
    for cell in {cells!r}:
        done = shell.run(cell, {{}}, minigrad)
        shown = [each.get("data", each)["text/plain"] for each in done.displayed]
        print(done.printed, done.complained, done.failed, *shown, sep="", end="\\0")
"""
    return out(code).split("\0")


def test_the_magic_does_the_same() -> None:
    program = "%%autograd\nimport torch\nx = torch.tensor(2.0, requires_grad=True)\n(x * x).backward()"
    nothing, shown, same = in_shell("%autograd torch minigrad", program, "print(torch.__name__)")[:3]
    assert nothing == ""
    assert "x   2.   leaf" in shown
    assert same == "minigrad\n"


@pytest.mark.full
def test_the_magic_says_what_is_wrong() -> None:
    wrong, _, late = in_shell(
        "%autograd torch jax",
        "import sys, types; sys.modules['torch'] = types.ModuleType('torch')",
        "%autograd torch minigrad",
    )[:3]
    assert "Nothing else can follow `torch`" in wrong
    assert "Restart the kernel" in late
