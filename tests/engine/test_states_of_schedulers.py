"""The states of schedulers, and of LBFGS, have PyTorch's keys, and either library loads the other's."""

import warnings

import pytest

import minigrad

SCHEDULERS = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.9**epoch),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9),
    "StepLR": lambda s, o: s.StepLR(o, 2),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [1, 3]),
    "ConstantLR": lambda s, o: s.ConstantLR(o),
    "LinearLR": lambda s, o: s.LinearLR(o),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3),
    "CyclicLR without momentum": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, cycle_momentum=False),
    "CyclicLR of steps": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, mode="exp_range", gamma=0.9),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.1, 9),
    "OneCycleLR in lines": lambda s, o: s.OneCycleLR(
        o, 0.1, 9, anneal_strategy="linear", cycle_momentum=False
    ),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, patience=1),
    "ReduceLROnPlateau of several": lambda s, o: s.ReduceLROnPlateau(o, patience=1, min_lr=[0.01]),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o), s.ExponentialLR(o, 0.9)], [4]),
}


def made(library, name):
    optimizer = library.optim.SGD([library.ones(2, requires_grad=True)], lr=0.1, momentum=0.9)
    return optimizer, SCHEDULERS[name](library.optim.lr_scheduler, optimizer)


def rates(optimizer, scheduler, count):
    """The learning rates and momenta of some steps."""
    found = []
    for i in range(count):
        optimizer.step()
        scheduler.step(*([1.0 + i] if "Plateau" in type(scheduler).__name__ else []))
        found += [optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["momentum"]]
    return found


def keys(state):
    """The keys of a state, also those of the states in it."""
    if isinstance(state, dict):
        return {key: keys(value) for key, value in state.items()}
    return [keys(part) for part in state] if isinstance(state, (list, tuple)) else type(state).__name__


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_scheduler_goes_on_from_the_state_of_the_other_library(torch, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = {library: made(library, name) for library in (minigrad, torch)}
        before = {library: rates(*pair, 3) for library, pair in both.items()}
        states = {L: (o.state_dict()["param_groups"], s.state_dict()) for L, (o, s) in both.items()}
        after = {library: rates(*pair, 4) for library, pair in both.items()}
        assert before[minigrad] == pytest.approx(before[torch])
        assert after[minigrad] == pytest.approx(after[torch])
        assert keys(states[minigrad][1]) == keys(states[torch][1])
        for library, other in ((minigrad, torch), (torch, minigrad)):
            optimizer, scheduler = made(library, name)
            groups, state = states[other]
            optimizer.load_state_dict({"state": {}, "param_groups": groups})
            scheduler.load_state_dict(state)
            assert rates(optimizer, scheduler, 4) == pytest.approx(after[torch])


def test_lbfgs_has_pytorchs_keys(torch):
    found = {}
    for library in (minigrad, torch):
        x = library.tensor([3.0, -2.0], requires_grad=True)
        optimizer = library.optim.LBFGS([x], lr=0.5, max_iter=4, history_size=2)

        def closure(x=x, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (x**4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        state = optimizer.state_dict()["state"][0]
        shares = [None if share is None else float(share) for share in state["al"]]
        found[library] = sorted(state), shares
    assert found[minigrad][0] == found[torch][0]
    assert found[minigrad][1] == pytest.approx(found[torch][1], rel=1e-4)
