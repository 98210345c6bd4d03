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
    # nan and inf
    "first_nan_forward": "{what} first appeared in {place}: with {inputs} the result is {what}.",
    "first_nan_forward_alone": "{what} first appeared in {place}.",
    "first_nan_backward": "{what} first appeared in backward: {node} received {took} and passed {what}, with {inputs} in {made}.",
    "first_nan_data": "{data} holds nan from the start. From there it reached {name}.",
    "first_nan_data_fix": "Leave out or replace such values first, for example with torch.nan_to_num({data}).",
    "first_nan_root": "From there it reached {name}.",
    "first_nan_grad": "From there it reached {name}.grad.",
    "first_nan_diverges": "The updates diverge: in {updates} updates by {line} the largest number in {name} grew from {first} to {last}.",
    "first_nan_unkept": "{name} is {what} since one of the first {count} backward calls, whose steps are not kept.",
    "first_nan_unkept_fix": "Run only the first iterations to see where it began. If the loss grows there, use a smaller learning rate.",
    "first_nan_fix_log": "Keep the argument above 0: `{code}`.",
    "first_nan_fix_root": "The derivative is infinite at 0. Keep the argument above 0: `{code}`.",
    "first_nan_fix_quotient": "Keep the divisor away from 0: `{code}`.",
    "first_nan_fix_exp": "Subtract the largest number first, as softmax does: `{code}`. Or use torch.softmax, torch.log_softmax or torch.logsumexp.",
    "first_nan_fix_argument": "Keep the numbers that go in there within the range where the operation and its derivative are finite.",
    "first_nan_fix_step": "Use a smaller learning rate.",
    "first_nan_fix_rate": "Use a smaller learning rate than {rate}.",
    "first_nan_fix_better": "Use a smaller learning rate than {rate}. The gradients of this cell suggest about {better}.",
}
