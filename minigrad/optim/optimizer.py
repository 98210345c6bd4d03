"""The base class of optimizers: groups of parameters with settings, and a state for each parameter.

Note [Steps on arrays]
    A step is not part of any graph, and observers see it as a whole (`step_starts`, `step_ended`). So
    `update` computes on the memory of the parameter, its gradient and its buffers: three times as fast as
    in-place operations on tensors, six or more for each parameter. The kernels of ops round as the ops do.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd import enable_grad
from ..core import F, modes
from ..core.modes import hidden_from_observers as unobserved
from ..core.modes import quiet
from ..core.tensor_state import operand, wrap, written_memory
from ..creation import tensor
from ..nn.modules.module import reset
from ..nn.modules.tree import type_name
from ..tensor import Tensor


def zeros_for(param: Tensor, *names: str) -> dict[str, Any]:
    """Return the state of a parameter before its first step: no steps, and zeros under these names."""
    return {"step": tensor(0.0), **{name: F.zeros_like(param) for name in names}}


class Optimizer:
    """Base class of optimizers; a subclass defines in `start` which buffers a parameter has, and in `update`
    what one step does to the parameter and its buffers. Both are arrays there: see Note [Steps on arrays].

    `param_groups` is a list of dictionaries of parameters ("params") and their settings, which you can change
    between steps. `state` holds a dictionary for each parameter. `foreach`, `fused` and `capturable` choose
    among PyTorch's implementations; minigrad stores and ignores them.

    Args:
        params: parameters, pairs of names and parameters, or dictionaries with settings of their own.
        defaults: settings of groups that do not give their own.

    Raises:
        TypeError: params is one tensor, or contains something other than tensors.
        ValueError: params is empty, contains a non-leaf tensor, or has a parameter in two groups.
        NotImplementedError: differentiable=True.

    Example:
        >>> optimizer = optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1)
        >>> isinstance(optimizer, optim.Optimizer), optimizer.param_groups[0]["lr"]
        (True, 0.1)

    Source: PyTorch's page `torch.optim.Optimizer`.
    """

    is_linear = False  # in the gradient; otherwise the parts of complex numbers are updated one by one
    writes = 1  # of PyTorch to a parameter in a step, which its version shows
    _opt_called: bool | None = None  # since a scheduler watches; None before

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{type_name(params)}"
            )
        if defaults.get("differentiable"):
            raise NotImplementedError("differentiable=True: steps are not recorded")
        self.defaults = defaults
        self.state: dict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with their own settings or the defaults; each must be a leaf and in one group
        only.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of "
                "tensors in sets will change between runs. Please use a list instead."
            )
        params = [given] if isinstance(given, Tensor) else list(given)
        named = [p for p in params if isinstance(p, tuple)]
        params = [p[1] if isinstance(p, tuple) else p for p in params]
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {type_name(param)}"
                )
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        group: dict[str, Any] = {"params": params, **self.defaults}
        group |= {key: value for key, value in param_group.items() if key != "params"}
        if named:
            group["param_names"] = [name for name, _ in named]
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters to None, or to zeros."""
        for group in self.param_groups:
            for param in group["params"]:
                reset(param, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        `closure` computes the loss and its gradients first; its result is returned.
        """
        if self._opt_called is False:
            self._opt_called = True
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        watchers = modes.observers()
        for watcher in watchers:
            watcher.step_starts(self)
        with unobserved(False):
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        self._step(param, group)
        for watcher in watchers:
            watcher.step_ended(self)
        return loss

    def _step(self, param: Tensor, group: dict[str, Any]) -> None:
        """Update one parameter by its gradient and the decay of its weights."""
        state, is_conjugate = self.state.get(param), param._bits
        if not state:
            state = self.start(param, group)
        written = F.resolve_neg(F.resolve_conj(param)) if is_conjugate else param
        quiet(self._step_on_arrays, written, operand(param.grad), state, group)
        if is_conjugate:
            param.copy_(written)
        if state:
            self.state[param] = state

    def _step_on_arrays(self, param: Tensor, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        decay = group.get("weight_decay")
        if isinstance(group["lr"], Tensor):
            group = {**group, "lr": group["lr"].item()}
        if group.get("maximize"):
            g = -g
        if decay and group.get("decoupled_weight_decay"):
            p = written_memory(param)
            p *= 1 - group["lr"] * decay
        elif decay:
            g = F.add_scaled(g, param._data, decay)
        arrays = {name: written_memory(value) for name, value in state.items()}
        if arrays:
            self.count(arrays, group)
        for _ in range(self.writes):
            p = written_memory(param)
        if p.dtype.kind != "c" or self.is_linear:
            self.update(p, g, arrays, group)
            state |= {name: wrap(arrays[name]) for name in arrays.keys() - state.keys()}
            return
        for part in (np.real, np.imag):
            buffers = {name: part(a) if a.dtype.kind == "c" else a for name, a in arrays.items()}
            self.update(part(p), part(g), buffers, group)

    def start(self, param: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the state of a parameter before its first step: tensors by name, "step" counts."""
        return {}

    def count(self, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Count the step."""
        if "step" in state:
            state["step"] += 1

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change the array `p` of a parameter and the arrays of its state, given its gradient `g`. Arrays
        that are added to the state become tensors of it.
        """
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Return the states and the groups; parameters are numbered."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            settings = {key: value for key, value in group.items() if key != "params"}
            groups.append({**settings, "params": [numbers[id(p)] for p in group["params"]]})
        return {"state": {numbers[id(p)]: s for p, s in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load states and settings; raise ValueError unless the groups have as many parameters as these."""
        groups = copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, self.param_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                "group"
            )
        params: dict[int, Tensor] = {}
        for loaded, group in zip(groups, self.param_groups):
            params |= dict(zip(loaded["params"], group["params"]))
            loaded["params"] = group["params"]
        self.param_groups = groups
        self.defaults.setdefault("differentiable", False)  # as in PyTorch, for groups that are added later
        self.state = defaultdict(dict)
        for number, state in copy.deepcopy(state_dict["state"]).items():
            self.state[params[number]] = in_dtype_of(params[number], state)

    def __repr__(self) -> str:
        groups = [
            f"Parameter Group {i}\n"
            + "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
            for i, group in enumerate(self.param_groups)
        ]
        return f"{type(self).__name__} (\n" + "\n".join(groups) + ")"


def in_dtype_of(param: Tensor, value: Any, key: Any = None) -> Any:
    """Return a loaded state with its tensors, except the number of steps, in the dtype of the parameter."""
    if isinstance(value, Tensor):
        return value if key == "step" or not param.is_floating_point() else value.to(param.dtype)
    if isinstance(value, dict):
        return {k: in_dtype_of(param, v, k) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(in_dtype_of(param, v) for v in value)
    return value


NOT_NEGATIVE = ("lr", "eps", "alpha", "momentum", "weight_decay", "lr_decay", "momentum_decay",
                "initial_accumulator_value")  # fmt: skip


def settings(arguments: dict[str, Any], names: str) -> dict[str, Any]:
    """Return the arguments of an optimizer's `__init__` that are settings of its groups.

    Raises ValueError for a negative one, or a beta that is not in [0, 1).
    """
    found = {name: arguments[name] for name in names.split()}
    for name in NOT_NEGATIVE:
        if name in found and not 0.0 <= found[name]:  # noqa: SIM300  (text of the error for a str)
            what = {"lr": "learning rate", "eps": "epsilon value"}.get(name, f"{name} value")
            raise ValueError(f"Invalid {what}: {found[name]}")
    for i in range(2 if "betas" in found else 0):
        if not 0.0 <= found["betas"][i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {found['betas'][i]}")
    return found
