"""Words in English: leaves that were lost, gradients that are None, nan, and models that do not learn."""

from __future__ import annotations

WORDS = {
    # a variable that was a leaf
    "rebound_why": "`{source}` (line {line}) made {name} a computed result. The leaf is gone, and backward() fills .grad only on leaves, so {name}.grad is None.",
    "rebound_cut_why": "`{source}` (line {line}) computed a new tensor without a graph. The leaf {name} is gone, so {root} has no graph either.",
    "rebound_fix": "Keep the leaf and update it in place: `{update}`.",
    "rebound_fix_reset": "Keep the leaf and update it in place: `{update}`. Then reset its gradient, or the next backward() adds to it: `{reset}`.",
    "rebound_fix_name": "Give the result another name, so that {name} stays the leaf. Then {name}.grad holds the gradient.",
    "assigned_parameter_why": "{name} is a parameter of a module, and a computed tensor cannot take its place: the optimizer and the module would lose the leaf.",
    "assigned_parameter_fix": "Copy the new values into the parameter: `with torch.no_grad(): {name}.copy_(…)`. Or assign a new leaf: torch.nn.Parameter(…).",
    # a gradient that is None where a tensor is expected
    "none_grad_why": "{name}.grad is None, so no arithmetic works with it.",
    "none_grad_early": "{name}.grad is None here, because no backward() has run yet.",
    "none_grad_early_fix": "Call backward() before this line, or check first: `if {name}.grad is not None:`.",
    "none_grad_flag_fix": "Create {name} with requires_grad=True, before anything is computed from it.",
    "none_grad_reset_fix": "Use {name}.grad first and reset it after that.",
    "none_grad_call_fix": "Use the gradient that grad() returns instead of {name}.grad.",
    "none_grad_skip_fix": "Compute the root from {name}, or skip {name} here: `if {name}.grad is not None:`.",
    "none_grad_cut_fix": "Remove what breaks the path from {name} to the root.",
}
