"""Words in English: two runs side by side."""

from __future__ import annotations

WORDS = {
    "compare_title": "Two runs side by side",
    "compare_run": "{run}: {name}",
    "compare_this_cell": "this cell",
    "compare_first": "The first difference: {a}; {b}",
    "compare_same": "Both runs did the same: {n} steps with the same operations, values and gradients.",
    "compare_in": "{run}: {what}",
    "compare_in_line": "{run}, line {line}: {what}",
    "compare_line": "line {line}: {what}",
    "compare_dtypes": "A computes in {a}, B in {b}: numbers that differ only by rounding count as the same.",
    "compare_rounds": "The first backward calls were only counted. The result first differs in call {n}: {a} in A, {b} in B.",
    # what a run did
    "compare_end": "the run has ended",
    "compare_failed": "the cell fails with {error}",
    "compare_is": "{name} is {value}",
    "compare_becomes": "{name} becomes {value}",
    "compare_runs": "`{source}` runs",
    "compare_computes": "`{source}` = {value}",
    "compare_runs_op": "`{source}` runs {op}",
    "compare_runs_node": "{node} of {name} runs",
    "compare_uses": "`{source}` uses {names}",
    "compare_node": "{name} has the node {node}",
    "compare_no_node": "{name} has no node and requires no gradient",
    "compare_leaf": "{name} is a leaf that requires a gradient",
    "compare_receives": "{node} of {name} receives {value}",
    "compare_passes": "{node} of {name} passes on {value}",
    "compare_hooked": "a hook changes the gradient of {name} to {value}",
    "compare_added": "{name}.grad becomes {value}",
    "compare_set": "{name}.grad is set to {value}",
    "compare_returned": "the gradient of {name} is {value}",
    "compare_stepped": "{kind} takes a step with {settings}",
    "compare_unnamed": "a tensor without a name",
    # what was not the same in the end
    "compare_ends": "Different in the end",
    "compare_tensor": "tensor",
    "compare_left_out": "Tensors left out: {n}.",
    "compare_no_picture": "These runs have no graph that could be drawn.",
    # of --vs and compare()
    "option_vs": "keep this run under NAME; a later, changed cell with the same NAME is compared with it",
    "compare_kept": "Kept as {name}. Change the cell and run it again with --vs {name}: the two runs are compared.",
    "compare_unknown": "nothing is kept under {name!r}; there are: {names}",
    "compare_no_run": "compare() takes names, Traces, and what last() or record() returns, not {kind}",
}
