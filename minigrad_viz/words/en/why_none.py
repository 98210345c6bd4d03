"""Words in English: why `x.grad` is None."""

from __future__ import annotations

WORDS = {
    # why_none
    "why_has_grad": "{name}.grad holds {value}, so it is not None.",
    "why_integer": "{name}.grad is None because {name} is {dtype}: only floating point and complex tensors can require gradients.",
    "why_no_flag": "{name}.grad is None because {name} does not require gradients⟦: it was computed from {middle}⟧.⟦ {ended}⟧",
    "why_not_leaf": "{name}.grad is None because {name} is not a leaf: its gradient is kept only after {name}.retain_grad().",
    "why_not_leaf_value": "{name}.grad is None because {name} is not a leaf: {call} computed its gradient {value}, but backward() keeps it only after {name}.retain_grad().",
    "why_retained_late": "{name}.grad is None because {call} had already computed the gradient {value} when {name}.retain_grad() was called.",
    "why_reset_at": "{name}.grad is None because it was reset⟦ in line {line}⟧ after {call} had stored {value} there.",
    "why_asked_late": "{name}.grad is None because {made} used {name} before {asked} made it require gradients.",
    "why_no_flag_off": "{name}.grad is None because {name} does not require gradients: {asked} switched it off.",
    "why_no_call": "{name}.grad is None: no backward() ran in the last watched cell.",
    "why_failed_early": "{name}.grad is None: the last watched cell failed at {place} before any backward() had run.",
    "why_failed": "{name}.grad is None because {call} failed before the gradient reached {name}.",
    "why_grad_call": "{name}.grad is None because {call} returns gradients and does not store them in .grad.",
    "why_inputs": "{name}.grad is None because {name} is not among the inputs= of {call}.",
    "why_none_sent": "{name}.grad is None because {node} passed None instead of a gradient in {call}.",
    "why_none_arrived": "{name}.grad is None because {name} received None instead of a gradient in {call}.",
    "why_cut": "{name}.grad is None because {cut} cut the path from {name} to {root}, where {call} started.",
    "why_new_leaf": "{name}.grad is None because {cut} cut the path from {name} to {root}, and {leaf} became a new leaf⟦ at {made}⟧, where the gradients of {call} end.",
    "why_no_path": "{name}.grad is None because {root}, where {call} started, was not computed from {name}.",
    "why_not_in_graph": "{name}.grad is None because {name} is not in the graph that {call} went through.",
    "why_in_graph": "{name}.grad is None although {name} is in the graph of {roots}: either no backward() has run from there yet, or .grad was reset.",
    "why_in_no_graph": "{name}.grad is None, and no variable here has {name} in its graph, so no backward() from one of them can reach it.",
    "why_unknown": "{name}.grad is None, but the reason is not certain.",
}
