"""What PyTorch documents under `torch.autograd`, `torch.func` and `torch.utils.checkpoint` is there, with the
same parameters in the same order."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import minigrad

# Per module the public names that minigrad does not have, and why.
LEFT_OUT: dict[str, dict[str, str]] = {
    "autograd": {
        "NestedIOFunction": "deprecated",
        "enforce_grad_layout_policy": "a choice of PyTorch's own memory layouts",
    },
    "autograd.graph": {
        "region_activation_memory_budget": "for the compiler",
        "set_warn_on_accumulate_grad_stream_mismatch": "CUDA streams",
        "set_override_stale_capture_stream": "CUDA streams",
    },
    "autograd.functional": {},
    "autograd.forward_ad": {},
    "autograd.gradcheck": {
        "get_numerical_jacobian": "deprecated",
        "get_analytical_jacobian": "deprecated",
        "get_numerical_jacobian_wrt_specific_input": "deprecated",
    },
    "autograd.grad_mode": {"enforce_grad_layout_policy": "a choice of PyTorch's own memory layouts"},
    "autograd.anomaly_mode": {},
    "autograd.function": {"NestedIOFunction": "deprecated"},
    "func": {
        "replace_all_batch_norm_modules_": "needs nn.Module",
        "functionalize": "rewrites programs for a compiler",
        "rearrange": "einops' notation, no differentiation",
        "debug_unwrap": "shows PyTorch's wrappers, of which there are none",
    },
    "random": {"thread_safe_generator": "for the workers of a data loader"},
    "utils.checkpoint": {
        "GraphExecGroup": "backward passes that share what they compute again",
        "set_checkpoint_debug_enabled": "logs of ops in errors",
        "get_device_states": "random states of GPUs",
        "set_device_states": "random states of GPUs",
        "DefaultDeviceType": "there is one device",
        "CheckpointPolicy": "selective checkpointing works on PyTorch's dispatcher",
        "SelectiveCheckpointContext": "selective checkpointing works on PyTorch's dispatcher",
        "create_selective_checkpoint_contexts": "selective checkpointing works on PyTorch's dispatcher",
        "SAC_IGNORED_OPS": "selective checkpointing works on PyTorch's dispatcher",
    },
}


def documented(torch: Any, module: str) -> list[str]:
    return list(importlib.import_module(f"{torch.__name__}.{module}").__all__)


def found(library: Any, module: str) -> Any:
    return importlib.import_module(f"{library.__name__}.{module}")


def signatures(thing: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    """(name, names of the parameters) of a function; of a class those of its own public methods."""
    if inspect.isclass(thing):
        for attribute, method in vars(thing).items():
            if attribute == "__init__" or not attribute.startswith("_"):
                method = getattr(method, "__func__", method)
                if inspect.isfunction(method):
                    yield f"{name}.{attribute}", parameters(method)
    elif callable(thing):
        yield name, parameters(thing)


def parameters(function: Any) -> list[str]:
    return [p for p in inspect.signature(inspect.unwrap(function)).parameters if p != "self" and p[0] != "_"]


@pytest.mark.parametrize("module", LEFT_OUT)
def test_every_documented_name_is_there(torch, module):
    ours = found(minigrad, module)
    missing = [n for n in documented(torch, module) if not hasattr(ours, n) and n not in LEFT_OUT[module]]
    assert not missing
    here = [n for n in LEFT_OUT[module] if hasattr(ours, n)]
    assert not here, f"left out by this test's table, but there: {here}"


@pytest.mark.parametrize("module", LEFT_OUT)
def test_parameters_have_the_same_names_and_order(torch, module):
    ours, theirs = found(minigrad, module), found(torch, module)
    compared = 0
    for name in documented(torch, module):
        if name in LEFT_OUT[module] or inspect.ismodule(getattr(theirs, name)):
            continue
        mine = dict(signatures(getattr(ours, name), name))
        for full, expected in signatures(getattr(theirs, name), name):
            if full in mine:
                assert mine[full] == expected, f"{module}.{full}"
                compared += 1
    assert compared
