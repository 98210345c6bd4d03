"""Modules as functions of their parameters: `functional_call` and `stack_module_state`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..ops.joining import stack
from ..tensor import Tensor

MISSING = object()  # instead of a tensor that the module does not have


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None,
    *, tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with other tensors instead of its parameters and buffers.

    Args:
        module: the module. It is the same afterwards.
        parameter_and_buffer_dicts: one dictionary or several, from dotted names to tensors.
        args: the positional arguments of the call: a tuple, or one argument.
        kwargs: the keyword arguments of the call.
        tie_weights: whether a tensor that the module has under several names is replaced under all of them.
        strict: whether the dictionaries must name every parameter and buffer.
    Returns: what the module returns.
    Raises: ValueError for a name that is given twice; RuntimeError if `strict` and the names differ.
    Source: torch.func.functional_call

    >>> layer = torch.nn.Linear(1, 1)
    >>> new = {"weight": torch.tensor([[2.0]]), "bias": torch.tensor([1.0])}
    >>> torch.func.functional_call(layer, new, torch.tensor([3.0]))
    tensor([7.])
    """
    given = merge_states(parameter_and_buffer_dicts)
    if type(module).__name__ == "DataParallel":
        raise RuntimeError("The stateless API can't be used with nn.DataParallel module")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with replace_tensors(module, given, with_tied_names(module, given) if tie_weights else given, strict):
        return module(*args, **(kwargs or {}))


def merge_states(dicts: Any) -> dict[str, Any]:
    """Return one dictionary; raise ValueError for anything else and for names that are given twice."""
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for d in dicts for name in d]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {name: t for d in dicts for name, t in d.items()}


def members(module: Any) -> dict[str, Any]:
    """Return all parameters and buffers by dotted name, those with several names under each."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def with_tied_names(module: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return `given`, with each tensor also under the other names of the one that it replaces."""
    names: dict[int, set[str]] = {}
    for name, t in members(module).items():
        names.setdefault(id(t), set()).add(name)
    found = dict(given)
    for group in names.values():
        shown = [given[name] for name in sorted(group) if name in given]
        if any(t is not shown[0] for t in shown):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(group)}, which are tied. Consider "
                "using tie_weights=False"
            )
        found |= dict.fromkeys(group, shown[0]) if shown else {}
    return found


@contextmanager
def replace_tensors(
    module: Any, given: dict[str, Any], tensors: dict[str, Any], strict: bool
) -> Iterator[None]:
    """Put `tensors` into the module inside. What the module assigns instead of one goes into `given`."""
    known = members(module)
    if strict:
        shown = {"Unexpected": [n for n in sorted(tensors) if n not in known]}
        shown["Missing"] = [n for n in sorted(known) if n not in tensors]
        errors = [f"{what} key(s): {', '.join(map(repr, names))}." for what, names in shown.items() if names]
        if errors:
            text = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{text}")
    places = []
    for name, t in tensors.items():
        path, _, last = name.rpartition(".")
        owner = module.get_submodule(path)
        if not isinstance(t, Tensor):
            raise TypeError(f"{t} is not an instance of torch.Tensor")
        kept = next((d for d in (owner._parameters, owner._buffers) if last in d), vars(owner))
        places.append((name, kept, last, kept.get(last, MISSING)))
    for (_, kept, last, _), t in zip(places, tensors.values()):
        kept[last] = t
    try:
        yield
    finally:
        for name, kept, last, original in places:
            if name in given:
                given[name] = kept[last]
            if original is MISSING:
                del kept[last]
            else:
                kept[last] = original


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Stack the parameters and the buffers of several models along a new first dimension, for `vmap`.

    Args:
        models: modules of one class, all in training mode or all in evaluation mode.
    Returns: two dictionaries, from names to the stacked parameters and to the stacked buffers.
    Raises: RuntimeError if there is no model, or if their classes or modes differ.
    Source: torch.func.stack_module_state

    >>> parameters, buffers = torch.func.stack_module_state([torch.nn.Linear(1, 2) for _ in range(3)])
    >>> parameters["weight"].shape, buffers
    (torch.Size([3, 2, 1]), {})
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        stack_states([dict(model.named_parameters()) for model in models]),
        stack_states([dict(model.named_buffers()) for model in models]),
    )


def stack_states(states: list[dict[str, Any]]) -> dict[str, Any]:
    """Return tensors of the same names stacked, as leaves."""
    found = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        needs = {t.requires_grad for t in tensors}
        if len(needs) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        found[name] = stack(tensors).detach().requires_grad_(needs.pop())
    return found
