"""Random trainings: optimizers with odd options, groups of parameters, closures, schedules, states that are
saved and loaded in the middle.
"""

from __future__ import annotations

import copy
import random
from typing import Any

from twins import outcome

OPTIONS: dict[str, dict[str, tuple[Any, ...]]] = {
    "SGD": {
        "lr": (0.1, 0.01, 0.0, -0.1),
        "momentum": (0.0, 0.9, -0.5),
        "dampening": (0.0, 0.5),
        "weight_decay": (0.0, 0.1),
        "nesterov": (False, True),
        "maximize": (False, True),
    },
    "Adam": {
        "lr": (0.1, 0.001),
        "betas": ((0.9, 0.999), (0.0, 0.5), (0.5, 1.0)),
        "eps": (1e-8, 0.1, 0.0),
        "weight_decay": (0.0, 0.1),
        "amsgrad": (False, True),
        "maximize": (False, True),
    },
    "AdamW": {"lr": (0.1,), "weight_decay": (0.0, 0.5), "amsgrad": (False, True), "maximize": (False, True)},
    "Adamax": {
        "lr": (0.1,),
        "betas": ((0.9, 0.99), (0.0, 0.0)),
        "weight_decay": (0.0, 0.1),
        "maximize": (False, True),
    },
    "NAdam": {
        "lr": (0.1,),
        "weight_decay": (0.0, 0.1),
        "momentum_decay": (0.004, 0.5),
        "decoupled_weight_decay": (False, True),
        "maximize": (False, True),
    },
    "Adagrad": {
        "lr": (0.1,),
        "lr_decay": (0.0, 0.5),
        "weight_decay": (0.0, 0.1),
        "initial_accumulator_value": (0.0, 1.0),
        "eps": (1e-10, 0.5),
        "maximize": (False, True),
    },
    "Adadelta": {"lr": (1.0, 0.1), "rho": (0.9, 0.0), "eps": (1e-6, 0.1), "weight_decay": (0.0, 0.1)},
    "RMSprop": {
        "lr": (0.1,),
        "alpha": (0.99, 0.5),
        "eps": (1e-8, 0.5),
        "weight_decay": (0.0, 0.1),
        "momentum": (0.0, 0.9),
        "centered": (False, True),
        "maximize": (False, True),
    },
    "LBFGS": {
        "lr": (1.0, 0.1),
        "max_iter": (1, 4, 20),
        "max_eval": (None, 3),
        "tolerance_grad": (1e-7, 0.5),
        "tolerance_change": (1e-9, 0.1),
        "history_size": (1, 3, 100),
    },
}
SCHEDULES: dict[str, Any] = {
    "StepLR": {"step_size": (1, 3), "gamma": (0.1, 0.5)},
    "MultiStepLR": {"milestones": ([2, 4], [1, 1, 3], []), "gamma": (0.1,)},
    "ConstantLR": {"factor": (0.5, 1.0), "total_iters": (0, 2, 5)},
    "LinearLR": {"start_factor": (0.25, 1.0), "end_factor": (1.0, 0.5), "total_iters": (1, 3)},
    "ExponentialLR": {"gamma": (0.9, 1.5)},
    "CosineAnnealingLR": {"T_max": (1, 3), "eta_min": (0.0, 0.01)},
    "PolynomialLR": {"total_iters": (1, 4), "power": (1.0, 0.5, 2.0)},
    "CosineAnnealingWarmRestarts": {"T_0": (1, 3), "T_mult": (1, 2), "eta_min": (0.0, 0.01)},
    "CyclicLR": {
        "base_lr": (0.01,),
        "max_lr": (0.1,),
        "step_size_up": (2,),
        "step_size_down": (None, 1),
        "mode": ("triangular", "triangular2", "exp_range"),
        "gamma": (1.0, 0.9),
        "cycle_momentum": (True, False),
    },
    "OneCycleLR": {
        "max_lr": (0.1,),
        "total_steps": (4, 9),
        "pct_start": (0.3, 0.5),
        "anneal_strategy": ("cos", "linear"),
        "cycle_momentum": (True, False),
    },
    "ReduceLROnPlateau": {
        "mode": ("min", "max"),
        "factor": (0.1, 0.5),
        "patience": (0, 1),
        "threshold": (1e-4, 0.5),
        "threshold_mode": ("rel", "abs"),
        "cooldown": (0, 1),
        "min_lr": (0, 0.02),
    },
    "LambdaLR": {},
    "MultiplicativeLR": {},
    "SequentialLR": {},
}
NEEDED = {
    "StepLR": "step_size",
    "MultiStepLR": "milestones",
    "ExponentialLR": "gamma",
    "CosineAnnealingLR": "T_max",
    "CosineAnnealingWarmRestarts": "T_0",
    "OneCycleLR": "max_lr",
}
SIMPLE = [n for n in SCHEDULES if n not in ("SequentialLR", "ReduceLROnPlateau", "OneCycleLR", "CyclicLR")]
VALUES = ([0.5, -1.0], [[1.0, 2.0], [-0.5, 0.25]], 0.75)
EVENTS = (
    "step", "step", "step", "closure", "none", "zero", "zero to 0", "lr", "group", "save", "schedule",
    "schedule", "freeze", "schedule at", "copy", "resume",
)  # fmt: skip


def chosen(rng: random.Random, options: dict[str, Any]) -> dict[str, Any]:
    """Some of the options, each with one of its values."""
    return {name: rng.choice(values) for name, values in options.items() if rng.random() < 0.6}


def settings_of(rng: random.Random, name: str) -> dict[str, Any]:
    """Settings for a schedule; those without a default are always there."""
    options = SCHEDULES[name]
    found = chosen(rng, options)
    if name == "CyclicLR":
        found |= {"base_lr": 0.01, "max_lr": 0.1}
    if name == "OneCycleLR":
        found["total_steps"] = rng.choice(options["total_steps"])
    if name in NEEDED:
        found[NEEDED[name]] = rng.choice(options[NEEDED[name]])
    return found


def schedule_of(L: Any, optimizer: Any, name: str, settings: dict[str, Any], parts: list[Any]) -> Any:
    """A schedule; of several others where it consists of them."""
    schedules = L.optim.lr_scheduler
    if name == "LambdaLR":
        return schedules.LambdaLR(optimizer, lambda epoch: 0.9**epoch)
    if name == "MultiplicativeLR":
        return schedules.MultiplicativeLR(optimizer, lambda epoch: 0.5 + 0.1 * epoch)
    if name == "SequentialLR":
        made = [schedule_of(L, optimizer, part, how, []) for part, how in parts]
        return schedules.SequentialLR(optimizer, made, milestones=[2, 4][: len(made) - 1])
    return getattr(schedules, name)(optimizer, **settings)


def program_of(seed: int) -> Any:
    """A program as `assert_same_diary` runs it."""
    rng = random.Random(seed)
    name = rng.choice([*OPTIONS])
    options = chosen(rng, OPTIONS[name])
    if name == "SGD" and "lr" not in options and rng.random() < 0.9:
        options["lr"] = 0.1
    groups = rng.random() < 0.4 and name != "LBFGS"
    own = chosen(rng, OPTIONS[name])
    schedule = rng.choice([*SCHEDULES, None, None])
    settings = settings_of(rng, schedule) if schedule else {}
    parts = [(n, settings_of(rng, n)) for n in rng.sample(SIMPLE, rng.choice((2, 3)))]
    events = [(rng.choice(EVENTS), rng.random()) for _ in range(rng.randrange(3, 9))]

    def program(L: Any, note: Any) -> None:
        Training(L, note).run(name, options, own if groups else None, schedule, settings, parts, events)

    return program


class Training:
    """One training in one library."""

    def __init__(self, L: Any, note: Any) -> None:
        self.L, self.note = L, note
        self.parameters = [L.nn.Parameter(L.tensor(v, dtype=L.float64)) for v in VALUES]
        self.frozen: set[int] = set()

    def loss(self) -> Any:
        """A bowl whose lowest point is not 0, and which is not round."""
        total = self.L.zeros((), dtype=self.L.float64)
        for i, p in enumerate(self.parameters):
            if i not in self.frozen:
                total = total + ((p - 0.25 * i) ** 2 * (i + 1) + (p * 0.5).cos()).sum()
        return total

    def gradients(self) -> Any:
        """Compute the loss and new gradients."""
        self.optimizer.zero_grad()
        loss = self.loss()
        if loss.requires_grad:
            loss.backward()
        self.evaluations += 1
        return loss

    def run(
        self, name: str, options: Any, own: Any, schedule: Any, settings: Any, parts: Any, events: Any
    ) -> None:
        L, ps = self.L, self.parameters
        given: Any = [{"params": ps[:1]}, {"params": ps[1:2], **own}] if own is not None else ps[:2]
        self.evaluations = 0
        self.make = lambda what: getattr(L.optim, name)(what, **options)
        self.optimizer = outcome(self.make, given)
        if isinstance(self.optimizer, tuple):
            self.note(self.optimizer)
            return
        self.schedule: Any = None
        resumed = schedule not in (None, "SequentialLR", "ReduceLROnPlateau", "LambdaLR", "MultiplicativeLR")
        self.kind, self.settings = (schedule, settings) if resumed else ("ExponentialLR", {"gamma": 0.9})
        if schedule:
            made = outcome(schedule_of, L, self.optimizer, schedule, settings, parts)
            self.note(made if isinstance(made, tuple) else "scheduled")
            self.schedule = None if isinstance(made, tuple) else made
        self.look()
        for kind, x in events:
            result = outcome(self.event, kind, x, name)
            self.note(kind, result if isinstance(result, tuple) else None)
            self.look()

    def event(self, kind: str, x: float, name: str) -> None:
        optimizer = self.optimizer
        if kind == "step" and name != "LBFGS":
            self.gradients()
            self.note(optimizer.step())
        elif kind in ("closure", "step"):
            self.note(optimizer.step(self.gradients), self.evaluations)
        elif kind == "none":
            self.parameters[0].grad = None
            self.note(optimizer.step())
        elif kind == "zero":
            optimizer.zero_grad()
        elif kind == "zero to 0":
            optimizer.zero_grad(set_to_none=False)
        elif kind == "lr":
            optimizer.param_groups[0]["lr"] = x / 10
        elif kind == "group":
            optimizer.add_param_group({"params": self.parameters[2:], "lr": x / 10})
        elif kind == "freeze":
            self.frozen ^= {0}
        elif kind == "copy" and name != "LBFGS":  # of which PyTorch loses a part
            self.optimizer = copy.deepcopy(optimizer)
            self.schedule = None
        elif kind == "save":
            state = copy.deepcopy(optimizer.state_dict())
            self.note(sorted(state), [sorted(g) for g in state["param_groups"]], sorted(state["state"]))
            self.optimizer = self.make([{"params": g["params"]} for g in optimizer.param_groups])
            self.optimizer.load_state_dict(state)
            if self.schedule is not None:
                kept = self.schedule.state_dict()
                self.schedule.load_state_dict(kept)
                self.schedule = None
        elif kind == "resume":
            how = {"last_epoch": int(x * 5), **self.settings}
            self.schedule = schedule_of(self.L, optimizer, self.kind, how, [])
        elif self.schedule is not None:
            if type(self.schedule).__name__ == "ReduceLROnPlateau":
                self.schedule.step(x)
            elif kind == "schedule at":
                self.schedule.step(int(x * 6))
            else:
                self.schedule.step()

    def look(self) -> None:
        """Note everything that a step may change."""
        groups = self.optimizer.param_groups
        self.note(
            [p.detach() for p in self.parameters],
            [p.grad for p in self.parameters],
            [p._version for p in self.parameters],
        )
        self.note(
            [
                {k: nine_digits(v) for k, v in sorted(g.items()) if k not in ("params", "differentiable")}
                for g in groups
            ]
        )
        for group in groups:
            for p in group["params"]:
                state = self.optimizer.state.get(p, {})
                self.note(
                    [
                        (k, nine_digits(v))
                        for k, v in sorted(state.items())
                        if k not in ("old_dirs", "old_stps", "ro", "al")
                    ]
                )
        if self.schedule is not None:
            self.note(self.schedule.get_last_lr(), getattr(self.schedule, "last_epoch", None))


def nine_digits(value: Any) -> Any:
    """A number to nine digits, a tensor as it is."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    return [nine_digits(v) for v in value] if isinstance(value, (list, tuple)) else value
