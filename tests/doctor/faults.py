"""Faults that are put into the programs of `families.py`: what is edited, and the line that is at fault.

`#!` marks the line that a report has to name. A kind without one has no line of its own.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from doctor.families import FAMILIES

MARK = "#!"
ALL = "mlp cnn rnn gpt vae"
ZERO, BACK, STEP = "    optimizer.zero_grad()\n", "    loss.backward()\n", "    optimizer.step()\n"
MARKED = {line: line[:-1] + "  #!\n" for line in (ZERO, BACK, STEP)}
ORDER = ZERO + BACK + STEP
BODY = "        h = self.body(x)\n"
RETURN = "return self.head(h)"
MAKE = "optimizer = torch.optim.SGD(net.parameters(), lr="
LOOP = "for step in range(40):\n"
BATCH = "    i = torch.randint(0, len(X), (16,))\n"
FORWARD = "    out = net(x)\n"
CLIP = "    nn.utils.clip_grad_norm_(net.parameters(), {})  #!\n"


@dataclass(frozen=True)
class Fault:
    """A kind: its edits, the families that they fit, what the report has to find, and whether a threshold
    decides about it."""

    kind: str
    families: str
    edits: tuple[tuple[str, str], ...]
    keys: str  # any of these
    measured: bool = False


def before_loop(line: str) -> tuple[str, str]:
    return LOOP, f"{line}  #!\n{LOOP}"


def optimizer(rest: str) -> tuple[str, str]:
    """The line of the optimizer with other arguments behind `lr=`; the old rate goes."""
    return MAKE, f"optimizer = torch.optim.SGD(net.parameters(), {rest})  #!  "


FAULTS = [
    # ── the order of a step
    Fault("no_reset", ALL, ((ZERO, ""), (BACK, MARKED[BACK])), "kept_gradient"),
    Fault("reset_before_step", ALL, ((ORDER, BACK + MARKED[ZERO] + STEP),), "reset_too_early"),
    Fault("step_before_backward", ALL, ((ORDER, ZERO + MARKED[STEP] + BACK),), "step_too_early"),
    Fault("never_steps", ALL, ((STEP, ""), (BACK, MARKED[BACK])), "no_step"),
    Fault("clip_before_backward", "mlp rnn gpt", ((ORDER, ZERO + CLIP.format("1.0") + BACK + STEP),), "clip_early"),
    Fault("clip_after_step", "mlp rnn gpt", ((ORDER, ZERO + BACK + STEP + CLIP.format("1.0")),), "clip_late"),
    Fault("schedule_first", "mlp cnn", (
        (LOOP, "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.9)\n" + LOOP),
        (ORDER, "    scheduler.step()  #!\n" + ORDER)), "scheduler_order"),
    # ── what the optimizer holds
    Fault("model_made_again", ALL, ((MAKE, "optimizer = torch.optim.SGD(net.parameters(), lr="),
          (LOOP, "net = Net()\n" + LOOP), (MAKE, "#!" + MAKE)), "stale_optimizer other_parameters"),
    Fault("only_the_head", ALL, ((MAKE, "optimizer = torch.optim.SGD(net.head.parameters(), lr="),
          ("optimizer = torch.optim.SGD(net.head", "#!optimizer = torch.optim.SGD(net.head")), "other_parameters"),
    Fault("layers_in_a_list", "gpt", (("nn.ModuleList([Block(), Block()])", "[Block(), Block()]  #!"),), "unregistered"),
    Fault("layer_never_called", "mlp cnn rnn", ((BODY, "        h = x.float().flatten(1)[:, :1].expand(-1, self.head.in_features) * 1.0\n" + BODY.replace("h =", "unused =")),), "never_called out_of_reach"),
    # ── paths that are cut
    Fault("detach", ALL, ((BODY, BODY[:-1] + ".detach()  #!\n"),), "out_of_reach"),
    Fault("data", ALL, ((BODY, BODY[:-1] + ".data  #!\n"),), "out_of_reach"),
    Fault("list", ALL, ((BODY, BODY + "        h = torch.tensor(h.tolist())  #!\n"),), "out_of_reach"),
    Fault("numpy", ALL, ((BODY, BODY + "        h = torch.from_numpy(h.detach().numpy())  #!\n"),), "out_of_reach"),
    Fault("no_grad", ALL, ((BODY, "        with torch.no_grad():  #!\n            h = self.body(x)\n"),), "out_of_reach"),
    Fault("item", ALL, ((BACK, "    loss = torch.tensor(loss.item(), requires_grad=True)  #!\n" + BACK),), "out_of_reach root_leaf"),
    Fault("argmax", "cnn gpt", (("F.cross_entropy(out, ", "F.mse_loss(out.argmax(1).float(), 1.0 * "), ("    loss = F.mse_loss", "    #!loss = F.mse_loss")), "no_grad_fn"),
    Fault("all_frozen", ALL, (before_loop("net.requires_grad_(False)"),), "no_grad_fn"),
    # ── modes
    Fault("evaluation_mode", "mlp cnn gpt", (before_loop("net.eval()"),), "eval_left_on"),
    Fault("training_mode", "mlp cnn gpt", ((STEP, STEP + "    if step % 10 == 9:\n        with torch.no_grad():\n            correct = F.mse_loss(net(X), torch.zeros_like(net(X)))  #!\n"),), "train_mode"),
    # ── losses
    Fault("softmax_twice", "cnn gpt", (("F.cross_entropy(out,", "F.cross_entropy(F.softmax(out, -1),"), ("    loss = F.c", "    #!loss = F.c")), "scores_twice"),
    Fault("softmax_in_model", "cnn", ((RETURN, "return F.softmax(self.head(h), dim=1)  #!"),), "scores_twice"),
    Fault("sigmoid_twice", "vae", (("F.binary_cross_entropy_with_logits(out,", "F.binary_cross_entropy_with_logits(torch.sigmoid(out),"), ("    loss = F.b", "    #!loss = F.b")), "scores_twice"),
    Fault("no_log_softmax", "cnn gpt", (("F.cross_entropy", "F.nll_loss"), ("    loss = F.n", "    #!loss = F.n")), "no_log_softmax"),
    Fault("softmax_of_batch", "cnn gpt", (("F.cross_entropy(out,", "F.nll_loss(F.log_softmax(out, 0),"), ("    loss = F.n", "    #!loss = F.n")), "softmax_batch"),
    Fault("broadcast", "mlp rnn", (("F.mse_loss(out, y)", "((out - y[:, 0]) ** 2).mean()  #!"),), "broadcast_loss"),
    Fault("broadcast_mse", "mlp rnn", (("F.mse_loss(out, y)", "F.mse_loss(out, y[:, 0])  #!"),), "broadcast_loss"),
    Fault("ascent", "mlp cnn rnn gpt", (("loss.backward()", "(-loss).backward()  #!"),), "ascent"),
    Fault("relu_at_the_end", "mlp rnn cnn", ((RETURN, "return F.relu(self.head(h) - 3)  #!"),), "relu_output dead_unit"),
    # ── rates
    Fault("rate_zero", ALL, (optimizer("lr=0.0"),), "lr_zero"),
    Fault("rate_decays", ALL, ((LOOP, "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.3)  #!\n" + LOOP), (STEP, STEP + "    scheduler.step()\n")), "lr_vanishes"),
    Fault("rate_small", ALL, (optimizer("lr=1e-10"),), "lr_small", True),
    Fault("rate_large", ALL, (optimizer("lr=300.0"),), "lr_large", True),
    Fault("clip_tiny", "mlp rnn gpt", ((ORDER, ZERO + BACK + CLIP.format("1e-7") + STEP),), "clip_tiny", True),
    Fault("decay_large", "mlp cnn", (optimizer("lr=0.1, weight_decay=5.0"),), "decay_large", True),
    # ── data
    Fault("same_batch", ALL, ((BATCH, "    i = slice(0, 16)\n"), ("    x, y = X[i], Y[i]\n", "    x, y = X[i], Y[i]  #!\n")), "same_batch"),
    Fault("first_batch", "mlp cnn gpt", ((LOOP, "loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), batch_size=16)\n" + LOOP), (BATCH, ""), ("x, y = X[i], Y[i]", "x, y = next(iter(loader))  #!")), "same_batch"),
    Fault("seed_in_loop", ALL, ((LOOP, LOOP + "    torch.manual_seed(0)  #!\n"),), "seed_in_loop"),
    Fault("one_label", "cnn gpt", (("F.cross_entropy(out, y", "F.cross_entropy(out, torch.zeros_like(y)"),), "one_label"),
    Fault("large_inputs", "mlp", (("X = torch.randn(200, 8)", "X = torch.randn(200, 8) * 300 + 1000"),), "input_scale lr_large first_nan dead_unit", True),
    Fault("nan_in_data", "mlp cnn rnn", (("torch.manual_seed(0)\n", "torch.manual_seed(0)\nnan = float('nan')\n"), ("\n\nclass", "\nX[X > 2.4] = nan\n\nclass")), "first_nan"),
    # ── starts
    Fault("zeros", "mlp cnn rnn", (before_loop("for p in net.parameters(): nn.init.zeros_(p)"),), "equal_units zero_gradient"),
    Fault("constants", "mlp rnn", (before_loop("for p in net.parameters(): nn.init.constant_(p, 0.1)"),), "equal_units"),
    # ── numbers
    Fault("dead", "mlp cnn vae", (before_loop("nn.init.constant_(net.body[0].bias, -100.0) if not hasattr(net.body[1], 'running_mean') else nn.init.constant_(net.body[1].bias, -100.0)"),), "dead_unit", True),
    Fault("saturated", "rnn", (before_loop("nn.init.normal_(net.body.inner.weight, std=60.0)"),), "saturated", True),
    Fault("vanishing", "mlp", (("nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Dropout(0.1))", "nn.Sequential(nn.Linear(8, 32), nn.Sigmoid(), *[m for _ in range(8) for m in (nn.Linear(32, 32), nn.Sigmoid())])"),), "vanishing", True),
    Fault("exploding", "mlp rnn vae", (before_loop("for p in net.parameters(): nn.init.normal_(p, std=8.0)"),), "exploding lr_large saturated first_nan dead_unit", True),
    Fault("log_of_zero", "mlp cnn vae", ((BACK, "    loss = loss + 0.01 * torch.log(torch.relu(out)).mean()  #!\n" + BACK),), "first_nan"),
    Fault("root_of_zero", "mlp cnn rnn", ((BACK, "    loss = loss + torch.sqrt(((out - out.detach()) ** 2).sum())  #!\n" + BACK),), "first_nan"),
    # ── memory
    Fault("sum_of_losses", "mlp cnn rnn", ((LOOP, "total = 0\n" + LOOP), (STEP, STEP + "    total = total + loss  #!\n")), "graph_kept"),
    Fault("list_of_losses", "mlp cnn rnn gpt", ((LOOP, "losses = []\n" + LOOP), (STEP, STEP + "    losses.append(loss)  #!\n")), "graph_kept"),
    # ── two networks
    Fault("generator_cut", "gan", (("loss_G = F.binary_cross_entropy_with_logits(D(fake), ones)", "loss_G = F.binary_cross_entropy_with_logits(D(fake.detach()), ones)  #!"),), "out_of_reach"),
    Fault("generator_of_the_other", "gan", (("opt_G = torch.optim.Adam(G.", "opt_G = torch.optim.Adam(D."), ("\nopt_G", "\n#!opt_G")), "other_parameters"),
    Fault("generator_rate_zero", "gan", (("opt_G = torch.optim.Adam(G.parameters(), lr=2e-3)", "opt_G = torch.optim.Adam(G.parameters(), lr=0.0)  #!"),), "lr_zero"),
    Fault("critic_never_reset", "gan", (("    opt_D.zero_grad()\n", ""), ("loss_D.backward()", "loss_D.backward()  #!")), "kept_gradient"),
    Fault("generator_never_steps", "gan", (("    opt_G.step()\n", ""), ("loss_G.backward()", "loss_G.backward()  #!")), "no_step"),
]  # fmt: skip


@dataclass(frozen=True)
class Program:
    """A text with the number of the line at fault (0: it has none), and the kind that was put in."""

    name: str
    source: str
    line: int
    fault: Fault | None = None


def edited(name: str, source: str, edits: tuple[tuple[str, str], ...], fault: Fault | None = None) -> Program:
    """A program with its edits. Each must fit: an edit that changes nothing is a mistake of the zoo."""
    for old, new in edits:
        assert old in source, (name, old)
        source = source.replace(old, new, 1)
    lines = source.splitlines(keepends=True)
    marked = [number for number, line in enumerate(lines, 1) if MARK in line]
    clean = "".join(unmarked(line) for line in lines)
    return Program(name, clean, marked[0] if marked else 0, fault)


def unmarked(line: str) -> str:
    """The line without the mark. A mark behind the code takes what follows it along; one at the front only
    itself."""
    front, mark, rest = line.partition(MARK)
    if not mark:
        return line
    return front + rest if not front.strip() else front.rstrip() + "\n"


def programs() -> list[Program]:
    """All faulty programs, in order."""
    return [
        edited(f"{fault.kind}-{family}", FAMILIES[family], fault.edits, fault)
        for fault in FAULTS
        for family in fault.families.split()
    ]


def is_aside(program: Program) -> bool:
    """Whether a program belongs to the third that is put aside: rules are written without looking at it, and
    recall and precision are measured on it."""
    return zlib.crc32(program.name.encode()) % 3 == 0
