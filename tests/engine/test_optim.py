"""Optimizers and learning rates in both libraries: the same numbers after the same steps."""

import copy

import numpy as np
import pytest
from calls import assert_same_ends
from twins import outcome_and_warnings

import minigrad

SETTINGS = {
    "SGD": [
        {},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True},
    ],
    "Adam": [
        {},
        {"lr": 0.1, "betas": (0.5, 0.6), "weight_decay": 0.1, "amsgrad": True},
        {"lr": 0.1, "maximize": True, "eps": 0.1},
    ],
    "AdamW": [{}, {"lr": 0.1, "weight_decay": 0.5, "amsgrad": True}],
    "RMSprop": [
        {},
        {"alpha": 0.5, "momentum": 0.9, "centered": True},
        {"weight_decay": 0.1, "maximize": True, "centered": True},
    ],
    "Adagrad": [
        {},
        {"lr": 0.1, "lr_decay": 0.5, "weight_decay": 0.1, "initial_accumulator_value": 0.5},
        {"maximize": True},
    ],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.5, "weight_decay": 0.1, "maximize": True}],
    "Adamax": [{}, {"lr": 0.1, "betas": (0.5, 0.6), "weight_decay": 0.1, "maximize": True}],
    "NAdam": [
        {},
        {"lr": 0.1, "betas": (0.5, 0.6), "weight_decay": 0.1, "momentum_decay": 0.5},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
}
TRIED = [(name, settings) for name, every in SETTINGS.items() for settings in every]

SCHEDULES = {
    "LambdaLR": {"lr_lambda": lambda epoch: 0.9**epoch},
    "StepLR": {"step_size": 3, "gamma": 0.5},
    "MultiStepLR": {"milestones": [2, 5, 5], "gamma": 0.5},
    "ConstantLR": {"factor": 0.25, "total_iters": 4},
    "LinearLR": {"start_factor": 0.5, "end_factor": 0.1, "total_iters": 6},
    "ExponentialLR": {"gamma": 0.8},
    "PolynomialLR": {"total_iters": 6, "power": 2.0},
    "CosineAnnealingLR": {"T_max": 4, "eta_min": 0.01},
    "MultiplicativeLR": {"lr_lambda": [lambda epoch: 0.9**epoch, lambda epoch: 0.5]},
    "CosineAnnealingWarmRestarts": {"T_0": 2, "T_mult": 2, "eta_min": 0.01},
    "CyclicLR": {"base_lr": 0.01, "max_lr": [0.1, 0.2], "step_size_up": 3, "mode": "triangular2"},
    "OneCycleLR": {"max_lr": 0.5, "total_steps": 12},
}


def weights(L):
    return [L.nn.Parameter(L.tensor([1.0, -2.0, 3.0])), L.nn.Parameter(L.tensor([[0.5]]))]


def loss_of(L, params):
    a, b = params
    return ((a * a * b).sum() - 3.0) ** 2 / 10


def descend(L, optimizer, params, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(L, params).backward()
        optimizer.step()


@pytest.mark.quick
@pytest.mark.parametrize(("name", "settings"), TRIED, ids=[f"{n}-{i}" for i, (n, _) in enumerate(TRIED)])
def test_steps(L, note, name, settings):
    params = weights(L)
    optimizer = getattr(L.optim, name)(params, **settings)
    note(repr(optimizer))
    for _ in range(6):
        descend(L, optimizer, params, 1)
        note(*params)
    saved = optimizer.state_dict()
    note(sorted(saved["state"]), sorted(saved["state"][0]) if saved["state"] else None)
    note([{k: v for k, v in group.items() if k != "lr"} for group in saved["param_groups"]])
    for state in saved["state"].values():
        note(*(state[key] for key in sorted(state)))


@pytest.mark.parametrize("name", SETTINGS)
def test_a_loaded_state_goes_on_where_it_was(L, note, name):
    params = weights(L)
    optimizer = getattr(L.optim, name)(params, lr=0.05)
    descend(L, optimizer, params, 3)
    saved, numbers = copy.deepcopy(optimizer.state_dict()), [p.detach().clone() for p in params]
    descend(L, optimizer, params, 2)
    again = [L.nn.Parameter(p) for p in numbers]
    other = getattr(L.optim, name)(again, lr=1.0)
    other.load_state_dict(saved)
    descend(L, other, again, 2)
    note(*params, *again)
    assert all((p == q).all().item() for p, q in zip(params, again))


@pytest.mark.quick
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(L, note, name):
    optimizer = L.optim.SGD([{"params": weights(L)[:1]}, {"params": weights(L)[1:], "lr": 0.3}], lr=0.1)
    scheduler = getattr(L.optim.lr_scheduler, name)(optimizer, **SCHEDULES[name])
    for _ in range(10):
        note([f"{rate:.10g}" for rate in scheduler.get_last_lr()], scheduler.last_epoch)
        optimizer.step()
        scheduler.step()
    kept = scheduler.state_dict()
    note(kept["last_epoch"], kept["base_lrs"], [group["initial_lr"] for group in optimizer.param_groups])


def test_one_schedule_after_the_other(L, note):
    optimizer = L.optim.SGD(weights(L), lr=1.0)
    schedules = L.optim.lr_scheduler
    first = schedules.ConstantLR(optimizer, factor=0.1, total_iters=20)
    second = schedules.ExponentialLR(optimizer, gamma=0.5)
    third = schedules.StepLR(optimizer, step_size=2)
    both = schedules.SequentialLR(optimizer, [first, second, third], milestones=[3, 6])
    for _ in range(10):
        note(f"{optimizer.param_groups[0]['lr']:.10g}", both.last_epoch)
        optimizer.step()
        both.step()


def test_a_plateau(L, note):
    for how in (
        {}, {"eps": 0.6}, {"mode": "max", "threshold_mode": "abs", "threshold": 0.5, "cooldown": 1},
    ):  # fmt: skip
        optimizer = L.optim.SGD(weights(L), lr=1.0)
        schedule = L.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, patience=1, factor=0.5, min_lr=0.2, **how
        )
        for measure in (3.0, 2.0, 2.0, 2.1, 1.9999, 2.5, 1.0, 1.4, 1.3, 1.2, 1.2, 1.2, 1.2):
            schedule.step(L.tensor(measure))
            note(optimizer.param_groups[0]["lr"], schedule.num_bad_epochs, float(schedule.best))


def test_groups(L, note):
    a, b = weights(L)
    optimizer = L.optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.1)
    note([group["lr"] for group in optimizer.param_groups], repr(optimizer))
    descend(L, optimizer, [a, b], 1)
    note(a, b)
    optimizer.add_param_group({"params": [L.nn.Parameter(L.ones(1))], "momentum": 0.5})
    note([group["momentum"] for group in optimizer.param_groups])
    optimizer.zero_grad(set_to_none=False)
    note(a.grad)
    optimizer.zero_grad()
    note(a.grad)


def test_a_closure(L, note):
    params = weights(L)
    optimizer = L.optim.SGD(params, lr=0.01)

    def closure():
        optimizer.zero_grad()
        loss = loss_of(L, params)
        loss.backward()
        return loss

    for _ in range(3):
        note(optimizer.step(closure))
    note(*params)
    optimizer.zero_grad()
    optimizer.step()
    note(*params)


REFUSED = """
SGD([]) | SGD(L.ones(1)) | SGD([3]) | SGD([p * 2]) | SGD([{'params': ps}, {'params': ps[:1]}])
SGD([set(ps)]) | SGD(ps, lr=-1) | SGD(ps, momentum=-1) | SGD(ps, weight_decay=-1) | SGD(ps, nesterov=True)
O.Adam(ps, betas=(1.0, 0.9)) | O.Adam(ps, betas=(0.9, -1)) | O.Adam(ps, eps=-1.0)
O.RMSprop(ps, alpha=-1.0) | sgd.load_state_dict(SGD(ps[:1]).state_dict()) | sgd.add_param_group(3)
S.StepLR(3, 1) | S.LinearLR(sgd, start_factor=2) | S.LinearLR(sgd, end_factor=2)
S.ConstantLR(sgd, factor=2) | S.LambdaLR(sgd, [abs, abs]) | S.ReduceLROnPlateau(sgd, factor=1.0)
S.ReduceLROnPlateau(sgd, mode='x') | S.CosineAnnealingWarmRestarts(sgd, 0)
S.CosineAnnealingWarmRestarts(sgd, 1, 0.5) | S.CosineAnnealingWarmRestarts(sgd, 1, 1, 'x')
S.CosineAnnealingWarmRestarts(sgd, 1).step(-1) | S.CyclicLR(sgd, 0.1, 0.2, mode='x')
S.CyclicLR(O.Adagrad(ps), 0.1, 0.2) | S.CyclicLR(sgd, [0.1, 0.2], 0.2) | S.CyclicLR(3, 0.1, 0.2)
S.OneCycleLR(sgd, 0.1) | S.OneCycleLR(sgd, 0.1, total_steps=0)
S.OneCycleLR(sgd, 0.1, epochs=1.5, steps_per_epoch=2) | S.OneCycleLR(sgd, 0.1, epochs=1, steps_per_epoch=-2)
S.OneCycleLR(sgd, 0.1, 4, pct_start=2.0) | S.OneCycleLR(sgd, 0.1, 4, anneal_strategy='x')
S.OneCycleLR(3, 0.1, 4) | [schedule.step() for schedule in [S.OneCycleLR(sgd, 0.1, 2)] * 9]
O.Adagrad(ps, lr_decay=-1) | O.Adagrad(ps, initial_accumulator_value=-1) | O.Adadelta(ps, rho=2)
O.Adamax(ps, betas=(2, 0)) | O.NAdam(ps, momentum_decay=-1) | O.Adamax(ps, eps=-1)
O.LBFGS([{'params': ps[:1]}, {'params': ps[1:]}]) | O.LBFGS(ps, lr=-1)
[o.add_param_group({'params': [L.ones(1, requires_grad=True)]}) or o.step(abs) for o in [O.LBFGS(ps)]]
"""


def namespace(L):
    ps = weights(L)
    names = {"O": L.optim, "S": L.optim.lr_scheduler, "SGD": L.optim.SGD, "ps": ps, "p": ps[0]}
    return {**names, "sgd": L.optim.SGD(ps, lr=1.0)}


def test_what_is_refused(torch):
    assert_same_ends(torch, REFUSED, namespace)


def followed(note, optimizer, scheduler, steps=8):
    """Note rates and momenta of some steps."""
    for _ in range(steps):
        group = optimizer.param_groups[0]
        momentum = group["betas"][0] if "betas" in group else group["momentum"]
        note([f"{rate:.8g}" for rate in scheduler.get_last_lr()], f"{momentum:.8g}")
        optimizer.step()
        scheduler.step()


def test_cycles(L, note):
    schedules = L.optim.lr_scheduler
    for how in (
        {"mode": "exp_range", "gamma": 0.5, "step_size_up": 2, "step_size_down": 1},
        {"step_size_up": 3, "base_momentum": 0.5},
        {"step_size_up": 1, "mode": "triangular2", "cycle_momentum": False},
    ):
        for optimizer in (L.optim.Adam(weights(L)), L.optim.SGD(weights(L), lr=1, momentum=0.1)):
            followed(note, optimizer, schedules.CyclicLR(optimizer, 0.1, 0.5, **how))
    for how in (
        {"epochs": 5, "steps_per_epoch": 2, "anneal_strategy": "linear"},
        {"total_steps": 9, "pct_start": 0.5, "div_factor": 2, "max_momentum": 0.9},
        {"total_steps": 9, "cycle_momentum": False},
    ):
        optimizer = L.optim.SGD(weights(L), lr=1, momentum=0.1)
        followed(note, optimizer, schedules.OneCycleLR(optimizer, 0.5, **how))


def test_restarts(L, note):
    for mult in (1, 3):
        optimizer = L.optim.SGD(weights(L), lr=1.0)
        schedule = L.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2, mult, eta_min=0.1)
        for epoch in (None, None, 0.5, 1.5, 2.5, 9.25, None, None):
            optimizer.step()
            schedule.step(epoch)
            note(f"{schedule.get_last_lr()[0]:.8g}", schedule.last_epoch, schedule.T_cur, schedule.T_i)


def test_states_of_schedules(L, note):
    def made():
        optimizer = L.optim.SGD(weights(L), lr=1.0)
        parts = [schedules.StepLR(optimizer, 2, 0.5), schedules.MultiplicativeLR(optimizer, lambda e: 0.9)]
        return optimizer, schedules.SequentialLR(optimizer, parts, [3])

    schedules = L.optim.lr_scheduler
    optimizer, both = made()
    for _ in range(4):
        optimizer.step()
        both.step()
        note([f"{rate:.8g}" for rate in both.get_last_lr()])
    other, again = made()
    kept = both.state_dict()
    again.load_state_dict(kept)
    other.load_state_dict(optimizer.state_dict())
    for _ in range(3):
        other.step()
        again.step()
        note([f"{rate:.8g}" for rate in again.get_last_lr()])
    note(schedules.LambdaLR(L.optim.SGD(weights(L), lr=1.0), lambda e: 1.0).state_dict()["lr_lambdas"])


def test_newton(L, note):
    for how in (
        {"lr": 0.1},
        {"max_iter": 4, "history_size": 2},
        {"max_iter": 6, "max_eval": 3},
    ):
        params = [L.nn.Parameter(L.tensor([-1.2, 2.0, 0.5]).double()), L.nn.Parameter(L.ones(2).double())]
        optimizer = L.optim.LBFGS(params, **how)
        note(repr(optimizer))

        def closure(params=params, optimizer=optimizer):
            optimizer.zero_grad()
            x = L.cat(params)
            loss = (10 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
            loss.backward()
            return loss

        for _ in range(3):
            note(optimizer.step(closure), *params)
        state = optimizer.state_dict()["state"][0]
        note(state["func_evals"], state["n_iter"], len(state["old_dirs"]))
        saved = copy.deepcopy(optimizer.state_dict())
        optimizer.load_state_dict(saved)
        note(optimizer.step(closure))
    params[0].grad = params[1].grad = None
    note(optimizer.step(lambda: L.tensor(3.0)))


def test_arguments_that_are_left_out_are_refused():
    optim, params = minigrad.optim, [minigrad.nn.Parameter(minigrad.ones(1))]
    schedules, sgd = optim.lr_scheduler, optim.SGD(params, momentum=0.9)
    for text, call in (
        ("LBFGS has no line_search_fn", lambda: optim.LBFGS(params, line_search_fn="strong_wolfe")),
        ("CyclicLR has no scale_fn", lambda: schedules.CyclicLR(sgd, 0.1, 0.2, scale_fn=abs)),
        ("OneCycleLR has no three_phase", lambda: schedules.OneCycleLR(sgd, 0.1, 9, three_phase=True)),
    ):
        with pytest.raises(NotImplementedError, match=rf"^minigrad's {text} .see docs/ops.md.$"):
            call()


EARLY = """
opt = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=1.0)
lrs = torch.optim.lr_scheduler
sched = lrs.{}
{}
"""
SCHEDULERS = (
    "StepLR(opt, 2)",
    "LambdaLR(opt, lambda n: 0.5)",
    "CosineAnnealingLR(opt, 4)",
    "SequentialLR(opt, [lrs.ConstantLR(opt), lrs.StepLR(opt, 1)], [2])",
    "ReduceLROnPlateau(opt)",
)


@pytest.mark.parametrize("steps", ["sched.step(); opt.step()", "opt.step(); sched.step()", "sched.step()"])
@pytest.mark.parametrize("made", SCHEDULERS)
def test_a_scheduler_that_steps_first_warns_as_pytorch_does(L, note, made, steps):
    if made.startswith("Reduce"):
        steps = steps.replace("sched.step()", "sched.step(1.0)")
    _, warned = outcome_and_warnings(exec, EARLY.format(made, steps), {"torch": L})
    note(warned)
    assert bool(warned) == (steps.startswith("sched") and not made.startswith("Reduce"))


def test_old_flags_of_losses_warn_as_pytorch_does(L, note):
    note(*outcome_and_warnings(lambda: L.nn.MSELoss(size_average=False) and None))
    note(*outcome_and_warnings(lambda: L.nn.functional.l1_loss(L.ones(2), L.zeros(2), reduce=False)))


def steps(L, name, kind, options):
    """Parameters with elements and without dimensions after four steps, their versions, and the states."""
    random = np.random.RandomState(0)

    def numbers(*shape):
        x = random.randn(*shape) + (1j * random.randn(*shape) if kind.startswith("complex") else 0)
        return L.tensor(np.asarray(x).tolist(), dtype=getattr(L, kind))

    params = [L.nn.Parameter(numbers(3, 2)), L.nn.Parameter(numbers())]
    optimizer = getattr(L.optim, name)(params, **options)
    for _ in range(4):
        for p in params:
            p.grad = numbers(*p.shape)
        optimizer.step()
    states = optimizer.state_dict()["state"].values()
    return [
        [p.tolist() for p in params],
        [p._version for p in params],
        [{key: value.tolist() for key, value in sorted(state.items())} for state in states],
    ]


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", SETTINGS)
def test_parameters_versions_and_states_are_pytorchs(torch, name, kind):
    for options in SETTINGS[name]:
        ours, theirs = steps(minigrad, name, kind, options), steps(torch, name, kind, options)
        assert ours[1] == theirs[1]
        assert [state.keys() for state in ours[2]] == [state.keys() for state in theirs[2]]
        for a, b in zip(ours[0], theirs[0]):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)
        for a, b in zip(ours[2], theirs[2]):
            for key in a:
                np.testing.assert_allclose(a[key], b[key], rtol=1e-5, atol=1e-7)


def test_a_parameter_of_a_conjugated_view(L, note):
    x = L.tensor([1 + 2j, 3 - 1j]).conj()
    p = L.nn.Parameter(x)
    p.grad = L.tensor([1 + 1j, 1j])
    L.optim.SGD([p], lr=1.0).step()
    note(p.tolist(), x.tolist())
