"""What a doctor costs: seconds a step with and without it, and memory. `python tests/doctor/overhead.py` prints
the numbers of docs/doctor.md.
"""

from __future__ import annotations

import gc
import time
from typing import Any

import psutil
import torch
from torch import nn

from minigrad_viz.training_runs import doctor


class Block(nn.Module):
    """A block of a GPT."""

    def __init__(self, width: int):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Any) -> Any:
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        x = x + self.proj(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x + self.mlp(self.norm2(x))


class Residual(nn.Module):
    """A block of a ResNet."""

    def __init__(self, width: int):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return torch.relu(x + self.body(x))


def gpt() -> tuple[Any, Any, Any]:
    net = nn.Sequential(
        nn.Embedding(64, 64), *(Block(64) for _ in range(4)), nn.LayerNorm(64), nn.Linear(64, 64)
    )
    return (
        net,
        lambda: torch.randint(0, 64, (8, 48)),
        lambda out, x: nn.functional.cross_entropy(out.flatten(0, 1), x.flatten()),
    )


def resnet() -> tuple[Any, Any, Any]:
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        *(Residual(16) for _ in range(4)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )
    return (
        net,
        lambda: torch.randn(8, 3, 16, 16),
        lambda out, x: nn.functional.cross_entropy(out, torch.zeros(len(x), dtype=torch.long)),
    )


def tiny() -> tuple[Any, Any, Any]:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    return net, lambda: torch.randn(8, 4), lambda out, x: nn.functional.mse_loss(out, x[:, :1])


def seconds(make: Any, steps: int, watched: bool) -> float:
    """Seconds of processor time a step, as the mean over the run."""
    torch.manual_seed(0)
    net, batch, loss_of = make()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)

    def run(count: int) -> None:
        for _ in range(count):
            x = batch()
            loss = loss_of(net(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    run(5)
    began = time.process_time()
    if watched:
        with doctor(net, optimizer, show=False) as d:
            run(steps)
        assert not d.evidence.unwatched
    else:
        run(steps)
    return (time.process_time() - began) / steps


def main() -> None:
    torch.set_num_threads(1)
    for name, make, steps in (
        ("GPT", gpt, 200), ("GPT", gpt, 700), ("ResNet", resnet, 200), ("ResNet", resnet, 700),
        ("tiny", tiny, 3000),
    ):  # fmt: skip
        seconds(make, 5, True)  # what is imported and compiled once
        pairs = [(seconds(make, steps, False), seconds(make, steps, True)) for _ in range(3)]
        alone, watched = min(a for a, _ in pairs), min(b for _, b in pairs)
        print(
            f"{name:8} {steps:5} steps: {1000 * alone:6.2f} ms, watched {1000 * watched:6.2f} ms: +{100 * (watched / alone - 1):.0f} %, +{1000 * (watched - alone):.2f} ms"
        )
    process = psutil.Process()
    net, batch, loss_of = tiny()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    gc.collect()
    before, sizes = process.memory_info().rss, []
    with doctor(net, optimizer, show=False) as d:
        for step in range(20_000):
            x = batch()
            loss = loss_of(net(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 5000 == 4999:
                sizes.append((process.memory_info().rss - before) / 2**20)
    print(
        "20,000 steps:",
        len(d.evidence.sampled),
        "sampled; MiB more after each 5,000 steps:",
        *(f"{size:.1f}" for size in sizes),
    )
    print(f"report: {len(d.html()) // 1024} kB; findings: {[f.key for f in d.findings]}")


if __name__ == "__main__":
    main()
