"""The catalogue in English. Every language has the same keys and placeholders; `words.text` fills them in."""

from __future__ import annotations

WORDS: dict[str, str] = {
    # rows of a station and of the state table
    "row_role": "role",
    "row_value": "value",
    "row_grad": "grad",
    "row_tangent": "tangent",
    "detail": "{label}: {value}",
    "not_kept": "({value} not kept)",
    "grad_many": "{total} = sum of {n}",
    "unknown": "not recorded",
    "unnamed": "result {n}",
    # roles
    "role_leaf": "leaf",
    "role_root": "root",
    "role_constant": "constant",
    "role_parameter": "parameter",
    "role_result": "result",
    # chips, arrows and marks
    "chip_freed": "{name} freed",
    "chip_version": "{name} {value} v{version}",
    "chip_packed": "{name} → {kept}",
    "kept_recomputed": "computed again",
    "chips_more": "+{n}",
    "pill_count": "×{n}",
    "pill_many": "{n} gradients",
    "hooks": "hooks {n}",
    "fold": "⋯ {n} operations",
    "fold_nodes": "{n} backward nodes",
    "tip_hook": "{i}. {hook}: {saw}",
    "legend_hook": "a hook that ran",
    "tip_fold": "stands for {n} operations in a row; value and gradient are those of the last",
    "outline_input_many": "← {name}: {n} gradients",
    "outline_input_many_waiting": "← {name}, {n} times",
    "legend_fold": "many operations in a row, folded",
    "tip_saved": "saved for backward: {name} = {value}",
    "tip_saved_version": "saved for backward: {name} = {value} (at version {version})",
    "tip_freed": "saved for backward and freed by it: {name} = {value}",
    "tip_freed_unseen": "saved for backward and freed by it: {name}",
    "tip_packed": "saved for backward: {name} = {value}, of which a hook made: {kept}",
    "tip_packed_unseen": "saved for backward: {name}, of which a hook made: {kept}",
    "tip_asked": "its gradient was asked for",
    "tip_forward": "{source} is used by {target}",
    "tip_gradient": "gradient from {target} to {source}: {value}",
    "tip_gradient_none": "gradient from {target} to {source}: nothing flowed",
    "tip_gradient_unseen": "gradient from {target} to {source}: not recorded",
    "tip_none": "input {i}: no edge, because it needs no gradient",
    "tip_nones": "{n} inputs: no edge, because they need no gradient",
    "tip_reference": "{name} again: it is used {n} times, so each use has its own small sign",
    # what is marked, cut, in fog, shared or told in bytes
    "legend_guilty": "where it failed",
    "legend_cause": "what led to it",
    "legend_stale": "saved, then written to: no longer usable",
    "legend_cut": "the path of the gradient ends",
    "legend_fog": "computed without recording",
    "legend_ghost": "a node that would be here",
    "legend_lost": "where it would go on",
    "legend_memory": "same letter, same memory",
    "legend_removed": "a hook that was removed",
    "picture_marked": "{picture} Marked: {labels}.",
    "outline_guilty": "!! {label}",
    "outline_cause": "! {label}",
    "outline_used": "uses {name}   {mark}",
    "outline_cut": "✂ {name}: {cut}",
    "outline_ghost": "({node}) {fog}",
    "chip_marked": "{name} {label}",
    "chip_stale": "{name} {value} v{version}→{now}",
    "chip_stale_unseen": "{name} v{version}→{now}",
    "chip_bytes": "{chip}, {n} B",
    "outline_stale": "{name} {value} (saved at version {version}, now {now}: no longer usable)",
    "outline_stale_unseen": "{name} (saved at version {version}, now {now}: no longer usable)",
    "outline_bytes": "{saved} {n} B",
    "tip_stale": "saved for backward: {name} = {value} (at version {version}, now {now}: no longer usable)",
    "tip_bytes": "{saved}, {n} bytes",
    "tip_code": "{name}:",
    "tip_code_line": "{name}, line {line}:",
    "tip_code_more": "… {n} more lines",
    "tip_hook_removed": "{i}. {hook}: removed, so it did not run",
    "cut_detach": "detach() gave the same numbers without a path back",
    "cut_data": ".data gave the same numbers without a path back",
    "cut_no_grad": "under no_grad() nothing was recorded, so there is no path back",
    "cut_inference": "in inference mode nothing was recorded, so there is no path back",
    "cut_numpy": "a NumPy array knows of no gradients, so there is no path back",
    "cut_item": "a Python number knows of no gradients, so there is no path back",
    "cut_tensor": "a new tensor was made of the numbers alone, so there is no path back",
    "cut_integer": "what comes out are no real numbers, so there is no path back",
    "fog_no_grad": "no_grad: not recorded",
    "fog_inference": "inference mode: not recorded",
    "ghost_node": "({node})",
    "memory_of": "memory of {name}",
    "memory_of_version": "memory of {name}, v{version}",
    "shared_memory": "shared memory",
    "shared_memory_version": "shared memory, v{version}",
    "outline_memory": "[{sign}] {memory}",
    "tip_ghost": "without it, {node} would stand here",
    # the picture as a whole
    "picture_title": "Computation graph of {names}",
    "picture_title_plain": "Computation graph",
    "picture_desc": "Tensors: {tensors}. Backward nodes: {nodes}. Root: {roots}. Leaves: {leaves}.",
    "picture_desc_plain": "Tensors: {tensors}. There is no backward graph.",
    "nobody": "none",
    "scene": "backward call {i} of {n}: {source}",
    "scene_unseen": "backward call {i} of {n}",
    "scene_none": "the whole cell",
    "frame_2": "graph of the gradient, built by create_graph=True",
    "frame_2_short": "graph of the gradient",
    "frame_n": "graph of derivative {n}, built by create_graph=True",
    "frame_n_short": "graph of derivative {n}",
    "legend_leaf": "leaf",
    "legend_parameter": "parameter, a leaf",
    "legend_root": "root: backward starts here",
    "legend_constant": "no gradient asked for",
    "legend_node": "backward node",
    "legend_saved": "saved for backward",
    "legend_freed": "freed",
    "legend_packed": "saved, packed by a hook",
    "legend_again": "not kept, computed again",
    "legend_forward": "forward",
    "legend_gradient": "gradient that flowed",
    "legend_todo": "gradient, not run",
    "legend_unseen": "gradient, not recorded",
    "legend_none": "input without gradient",
    "legend_not_kept": "computed, not kept in .grad",
    "legend_asked": "its gradient was asked for",
    "legend_skipped": "left out, for it was not asked for",
    # the outline
    "outline_kept": "grad {value}",
    "outline_not_kept": "grad ({value}, not kept)",
    "outline_no_grad": "grad None",
    "outline_freed": "{name} {value} (freed)",
    "outline_freed_unseen": "{name} (freed)",
    "outline_saved": "{name} {value}",
    "outline_version": "{name} {value} (version {version})",
    "outline_packed": "{name} {value} → {kept}",
    "outline_packed_unseen": "{name} → {kept}",
    "outline_packed_freed": "{name} → {kept} (freed)",
    "outline_tangent": "tangent {value}",
    "outline_asked": "asked for",
    "outline_skipped": "(left out: not asked for)",
    "outline_input": "← {name}: {value}",
    "outline_input_waiting": "← {name}",
    "outline_input_none": "← {name}: ∅ needs no gradient",
    "outline_none": "← ∅ needs no gradient",
    "outline_inputs_left_out": "… inputs left out: {n}",
    "outline_left_out": "… stations left out: {n}",
    "outline_empty": "no tensors",
    "outline_first": "graph of the forward pass",
    # why a cell has no graph, and what a graph leaves out
    "no_graph": "No tensor here asks for gradients (requires_grad=True), so there is no graph.",
    "no_graph_no_grad": "Computed under no_grad(): {names}. Nothing was recorded for backward.",
    "no_graph_inference": "Computed in inference_mode(): {names}. Such tensors never become part of a graph.",
    "no_graph_forward": "Forward mode: the tangents go along with the values, without a graph.",
    "no_graph_detached": "detach() ended the path at {names}: what follows has no graph.",
    "no_graph_left": (
        "{names}: only the numbers were taken along, so the path ended there and there is no graph."
    ),
    "no_graph_integer": "Only floating point and complex tensors can have gradients, not {dtype}: {names}.",
    "no_graph_checked": "What gradcheck computes to compare derivatives is not drawn.",
    "no_graph_unused": "No operation used {names}, so there is no graph, though gradients are asked for.",
    "no_graph_leaf": "No operation made {names}, so no graph leads back from there.",
    "note_anomaly": "Anomaly mode: every gradient is tested for NaN.",
    "no_tensors": "This cell made no tensor.",
    "omitted": "Stations left out, because the graph is larger than the limit: {n}.",
    "too_large": "The graph has {n} stations; up to {limit} are drawn. Here is its outline instead.",
    "layout_timeout": "Graphviz did not finish within {seconds} s. Here is the outline instead.",
    "layout_failed": "Graphviz could not lay out this graph: {reason} Here is the outline instead.",
    "layout_unavailable": "Graphviz is not available here: {reason} Here is the outline instead.",
    # the state table
    "table_caption": "State of the tensors",
    "table_tensor": "tensor",
    "table_attribute": "attribute",
    "table_end": "at the end",
    "table_before": "before backward",
    "table_after": "after backward",
    "table_before_n": "before backward {n}",
    "table_after_n": "after backward {n}",
    "table_before_grad": "before grad {n}",
    "table_after_grad": "after grad {n}",
    "table_absent": "not made yet",
    "table_moments_left_out": "Moments left out: {n}.",
    "table_tensors_left_out": "Tensors left out in the middle: {n}.",
    # the ledger of .grad
    "step_grad_zero": "{names}: set to 0",
    "step_grad_none": "{names}: set to None",
    "step_grad_assigned": "{names}: another tensor is put there, {value}",
    "step_grad_written": "{names}: changed in place to {value}",
    "ledger_title": "Ledger of .grad",
    "ledger_tensor": "of",
    "ledger_what": "what happened",
    "ledger_sources": "sent by",
    "ledger_where": "where",
    "ledger_grad": ".grad after it",
    "ledger_before": "there before the cell",
    "ledger_stores": "backward {n} stores {value}",
    "ledger_adds": "backward {n} adds {value}",
    "ledger_again": "backward {n} adds {value}; nothing had reset it",
    "ledger_hook": "a hook of the leaf changes it",
    "ledger_zero": "set to 0",
    "ledger_none": "set to None",
    "ledger_assigned": "another tensor is put there",
    "ledger_written": "changed in place",
    "ledger_skipped": "earlier deposits, counted only: {n}",
    "ledger_unseen": "changed by what was not recorded",
    "ledger_line": "line {line}: {source}",
    "ledger_sum": "{before} + {amount} = {total}",
    "ledger_times": "{n} × {node}",
    "ledger_left_out": "… entries left out: {n}",
    "ledger_tensors_left_out": "Tensors left out: {n}.",
    "ledger_note": "backward() adds to .grad. If that is not meant, reset it before the next call: "
    "x.grad = None or x.grad.zero_().",
    # memory of the graph
    "held_title": "Memory held by the graph",
    "held_node": "node",
    "held_at": "at",
    "held_saved": "saved",
    "held_version": "version",
    "held_bytes": "bytes",
    "held_value": "{name} = {value}",
    "held_nothing": "nothing",
    "held_leaf": "0 (the leaf's own {n})",
    "held_shared": "0 (counted above)",
    "held_unknown": "not known",
    "held_freed": "0, freed",
    "held_sum": "together",
    "held_none": "There is no graph: 0 bytes.",
    "held_left_out": "Rows left out in the middle: {n}.",
    "held_now": "Held for backward: {n} bytes.",
    "held_moment": "backward {n}: {before} bytes before it, {after} after it.",
    "held_kept": "backward {n}: {before} bytes before it and {after} after it; nothing was freed.",
    "held_leaves": "Saved leaves: {n} bytes, which cost nothing more, for the leaves are held anyway.",
    "held_rest": "In graphs that no backward call reached: {n} bytes.",
    "held_no_grad": "Under no_grad(): 0 bytes for {names}.",
    "held_no_grad_would": "Under no_grad(): 0 bytes for {names}; recorded, it would be {n} bytes.",
    "held_inference": "In inference_mode(): 0 bytes for {names}.",
    "held_inference_would": "In inference_mode(): 0 bytes for {names}; recorded, it would be {n} bytes.",
    # the player
    "forward_step": "forward {i} of {n}",
    "backward_step": "backward {i} of {n}",
    "player": "Player",
    "forward": "forward",
    "backward": "backward",
    "previous": "previous",
    "next": "next",
    "first": "first",
    "last": "last",
    "play": "play",
    "pause": "pause",
    "source": "source",
    "slider": "step",
    "speed": "speed",
    "acts": "backward call",
    "acts_counted": "and {n} earlier, counted only",
    "queue": "queue",
    "queue_ready": "ready to run",
    "queue_none": "nothing",
    "zoom_in": "larger",
    "zoom_out": "smaller",
    "zoom_fit": "whole picture",
    "picture": "picture",
    "details": "details",
    "details_in": "gradient in",
    "details_out": "gradient out",
    "details_steps": "steps",
    "details_formula": "arithmetic",
    "close": "close",
    "step_start": "the whole picture; the steps begin with the first operation",
    "steps_none": "No tensor was used: there are no steps.",
    "step_made": "{name} = {value}",
    "step_given": "{made}",
    "step_unseen": "{expr}: computed inside a library, its value was not recorded",
    "step_leaf": "{made}: a leaf that asks for its gradient",
    "step_parameter": "{made}: a parameter, a leaf that asks for its gradient",
    "step_constant": "{made}: a constant",
    "step_seed": "{made}: the gradient that backward starts with",
    "step_forward": "{expr} makes {made}",
    "step_forward_off": "{expr} makes {made}; gradients are off, so no node is made",
    "step_forward_inference": "{expr} makes {made}; in inference mode nothing is recorded",
    "step_forward_none": "{expr} makes {made}; no input asks for a gradient, so no node is made",
    "step_requires_grad": "{expr}: from now on {name} is a leaf that asks for its gradient",
    "step_retain_grad": "{expr}: the gradient of {name} will be kept in {name}.grad",
    "step_register_hook": "{expr}: a hook will see the gradient of {name}",
    "step_register_late": "{expr}: a hook will run when {name}.grad has been filled",
    "step_register_prehook": "{expr}: a hook will see what comes into the node of {name}",
    "step_register_posthook": "{expr}: a hook will see what the node of {name} sends on",
    "step_hook_removed": "{expr}: the hook of {name} is gone",
    "step_inside": "{node} computes {expr}: {made}",
    # cuts, fog and shared memory, in steps
    "step_detached": "{expr} makes {made}: the same memory as {source}, cut off from its graph",
    "step_detached_in_place": (
        "{expr} takes {source} out of its graph: from now on it is a leaf without gradient"
    ),
    "step_data": "{expr} makes {made}: the same memory as {source}, cut off from its graph, "
    "and what is written there is not counted for {source}",
    "step_shared": "{expr} makes {made}: the same memory as {source}",
    "step_left": "{expr} makes {made} of numbers of {source}, with no path back to it",
    "step_left_shared": "{expr} makes {made}: the same memory as {source}, with no path back to it",
    "step_forward_off_ghost": (
        "{expr} makes {made}; gradients are off, so no node is made (it would have been {ghost})"
    ),
    "step_forward_inference_ghost": (
        "{expr} makes {made}; in inference mode nothing is recorded (it would have been {ghost})"
    ),
    "step_forward_integer": "{expr} makes {made}; {dtype} has no gradient, so the path of {names} ends here",
    "step_forward_clone": "{expr} makes {made}: memory of its own, and a path back to {source}",
    "step_requires_grad_off": "{expr}: from now on {name} asks for no gradient",
    "step_requires_grad_cut": (
        "{expr}: from now on {name} is a leaf that asks for its gradient; nothing goes on to {source}"
    ),
    "also_label": "same memory",
    "also": "this changes {made}, too",
    # in place
    "step_in_place": "{expr} changes {name} in place to {value}: version {old} → {new}",
    "step_in_place_new": "{expr} changes {name} in place, which makes {made}: version {old} → {new}",
    "step_in_place_dirty": "{expr} changes {name} in place, which makes {made}",
    "step_in_place_view": "{made}: written to through a tensor with the same memory, version {old} → {new}",
    "step_backward": "{node} at {name} takes {value} and sends {sent}",
    "step_backward_end": "{node} at {name} takes {value} and sends nothing on",
    "step_backward_none": "{node} at {name} is skipped: its gradient is None, and it sends None on",
    "step_backward_zeros": (
        "{node} at {name} gets no gradient, so its backward runs with zeros and sends {sent}"
    ),
    "step_sent": "{value} to {name}",
    "step_ready": "{node} at {name} runs when all its arrows have reported",
    "step_deposit": "AccumulateGrad adds {value} to {name}.grad",
    "step_deposit_first": "AccumulateGrad stores {value} in {name}.grad",
    "step_deposit_none": "AccumulateGrad gets no gradient (None): {name}.grad stays as it is",
    "step_hooked": "the gradient that was asked for arrives at {name}",
    "step_captured": "autograd.grad returns {gradients}",
    "step_captured_one": "{value} for {name}",
    "step_fold": "{n} operations in a row: first {first}, last {last}",
    "step_fold_backward": "{n} nodes in a row: {value} goes in, {sent} comes out",
    "step_summary": "… {n} more steps, not shown one by one",
    "step_recomputed": "{node} at {name} needs what was not kept: operations computed again: {n}",
    "step_recomputed_unseen": "the checkpoint computes again what it had not kept: operations: {n}",
    "step_gradcheck": "{expr} compares derivatives with difference quotients; its own ops are not shown",
    "version_label": "version",
    "version": "{n}, for it was written to in place",
    "keeps_label": "saved",
    "keeps": "{node} keeps {saved}",
    "packs_label": "packed",
    "packs": "{name} = {value} → {kept}",
    "unpacks_label": "unpacked",
    "unpacks": "{kept} → {name} = {value}",
    "again_label": "again",
    "again": "{expr} = {value}",
    "mode_on": "on",
    "mode_off": "off",
    "mode_grad": "grad mode",
    "mode_inference": "inference mode",
    "mode_anomaly": "anomaly mode",
    "mode_saved_tensors_hooks": "saved-tensor hooks",
    "mode_forward_ad": "forward mode",
    "start_label": "start",
    "start_one": "the gradient of {name} with respect to itself is {value}",
    "start_given": "the gradient of {name} is given: {value}",
    "start_many": "{name}: many gradients at once; shapes are those of one",
    "asked_label": "asked for",
    "asked": "gradients of {names} only",
    "so_far_label": "so far at {name}",
    "so_far": "{value}, arrows still missing: {n}",
    "frees_label": "freed",
    "frees": "{names}",
    "inside_label": "inside",
    "inside": "{expr}",
    "stopped_label": "stopped here",
    "stopped": "{node} at {name}",
    "made_at_label": "made by",
    "made_at": "{expr}",
    "reached_label": "reached",
    "reached": "nodes that had run: {done} of {n}",
    "hook_tensor": "hook {name}",
    "hook_pre": "pre-hook {name}",
    "hook_post": "post-hook {name}",
    "hook_post_accumulate": "hook after the deposit {name}",
    "hook_multi": "multi-grad hook {name}",
    "hook_saw": "{before}, left as it is",
    "hook_none": "returned None: {before} goes on",
    "hook_same": "returned {before}, as it was",
    "hook_wrote": "wrote into it and returned None: {before} → {after}",
    "hook_label": "{i}. {hook}",
    "hook_made": "{before} → {after}",
    "through": "{left} through {name}",
    "share": "{value} (through {name})",
    "chain_rule": "chain rule",
    "sum_at": "sum at {name}",
    # lines of arithmetic
    "vjp": "vjp",
    "vjp_of": "vjp ({bar}: gradient of {name})",
    "broadcast": "broadcast",
    "broadcast_products": (
        "{input} has shape {small}, {output} has {large}: the {n} "
        "products are summed back to the shape of {input}"
    ),
    "broadcast_values": (
        "{input} has shape {small}, {output} has {large}: the {n} "
        "gradients are summed back to the shape of {input}"
    ),
    "tangent": "tangent",
    "tangent_of": "tangent ({dot}: tangent of {name})",
    "copy_slices_label": "in place",
    "copy_slices": "under the view through the op that wrote there; the rest passes to {name} as it is",
    "deposit": "into {name}.grad",
    "paths": "{n} paths",
    "own": "{name}.backward",
    "hook_changed": "changed by {name}",
    # options, and what the magic, the command line and the kernel say
    "magic_about": "Run the cell as usual and show, under its own output, the graph of its tensors with "
    "their values and gradients, step by step, and a table of their state before and after each backward().",
    "command_about": "Run a program, print the graph of its tensors and their state, and write the picture.",
    "command_file": "the program, or a trace saved as .json (default: an example, x ** 3 and its logarithm)",
    "kernel_hint": "python -m minigrad_viz kernel --help: a Jupyter kernel that watches every cell",
    "option_roots": "draw only what these variables were computed from",
    "option_show": "the graph as a player (default), a widget that Python can drive, a still picture, or not "
    "at all",
    "option_detail": "rows on each station (default: {default})",
    "option_values": "write values and gradients into the picture (default), or show its structure alone",
    "option_saved": "show all that is saved for backward, or nothing of it (default: what there is room for)",
    "option_direction": "the way forward: left to right, top to bottom … (default: {default})",
    "option_style": "who draws the graph, and in which colours (default: {default})",
    "option_max_nodes": "draw graphs of up to N stations, tell larger ones in words (default: {default})",
    "option_fold": "fold long chains into one station (default), or show every operation",
    "option_lang": "language of what is shown (default: that of the system)",
    "option_table": "show the state table (default), or leave it out",
    "option_ledger": (
        "show the ledger of .grad, or leave it out (default: where gradients add up or were reset)"
    ),
    "option_memory": "show the memory that the graph holds, or leave it out (default)",
    "option_steps": "also print the steps as text, with their arithmetic",
    "option_output": "also write FILE: {endings} (can be given several times)",
    "option_on": "watch every cell from the start, as %autograd on does",
    "option_one_of": "{option} must be one of {choices}, not {value}",
    "option_number": "{option} must be a whole number, at least 1, not {value}",
    "option_ending": "{option} {value}: the name must end in one of {endings}",
    "option_needs_value": "{option} needs a value after it",
    "option_exclusive": "{first} and {second} exclude each other",
    "option_unknown": "unknown option or argument: {words}",
    "option_wrong": "{option}: {problem}",
    "magic_bad_arguments": "%%{name}: {problem}. The cell was not run; %%{name}? lists the options.",
    "magic_bad_on": "%{name} on: {problem}. %%{name}? lists the options.",
    "magic_bad_line": "%{name} takes {words} or traceback, not {word!r}. %{name}? says more.",
    "magic_end_failed": "%%{name} could not show this cell: {problem} (%{name} traceback tells where)",
    "magic_begin_failed": "%{name} on could not watch this cell: {problem} (%{name} traceback tells where)",
    "magic_no_traceback": "Nothing has failed.",
    "magic_line_on": "do the same for every following cell that does not begin with %%",
    "magic_line_off": "stop doing so",
    "magic_line_cell": "do the same for this cell, from this line on",
    "magic_line_explain": "explain the last error, be it of a cell that was watched or not",
    "magic_line_traceback": "tell where showing a cell failed last",
    "file_failed": "{file} could not be written: {problem}",
    "no_last": "No cell has run under %%autograd yet.",
    "kernel_about": "Install a Jupyter kernel in which every cell is shown as under %%autograd.",
    "kernel_install": "add the kernel",
    "kernel_uninstall": "take it away",
    "kernel_sys_prefix": "in the environment of this Python (default)",
    "kernel_user": "for the current user",
    "kernel_prefix": "in the environment at P",
    "kernel_name": "name of the kernel (default: {default})",
    "kernel_display_name": "what Jupyter calls it (default: {default})",
    "kernel_installed": "The kernel {name} is in {path}",
    "kernel_removed": "The kernel {name} was taken away from {path}",
    "kernel_bad_name": "{name!r} cannot be the name of a kernel: use lower-case letters, digits, and . _ - "
    "between them",
    "kernel_foreign": "{path} belongs to another kernel; choose another --name",
    "kernel_missing": "There is no kernel {name!r} in {path}",
    "kernel_needs": "This needs ipykernel, which is not installed: pip install ipykernel ({problem})",
    # the definition of the derivative
    "limit_head": "f(x) = {y} at x = {x}, computed in {dtype}. Quotients: (f(x + h) − f(x)) / ((x + h) − x).",
    "limit_autograd": "The derivative by autograd, the slope of the tangent: {value}",
    "limit_central": (
        "f gives no gradient, so the tangent is that of a difference to both sides, with a small h: {value}"
    ),
    "limit_smallest": (
        "Apart from luck, the error is smallest around h = {h}. A larger h cuts off the bend of the curve "
        "(truncation); with a smaller one the difference keeps too few digits of {dtype} (rounding)."
    ),
    "limit_exact": "A hollow dot stands for an error of exactly 0.",
    "limit_lost": "In {dtype} x + h is x itself for h = {h}: there is no quotient.",
    "limit_quotient": "quotient",
    "limit_error": "error",
    "limit_tangent": "tangent → {value}",
    "limit_secant": "h = {h} → {value}",
    "limit_title": "Secants and tangent at x = {x}",
    "limit_about": "The curve of f with lines through x, and their slopes: {slopes}.",
    "limit_error_title": "Size of the error over h",
    "limit_error_about": "Both axes are logarithmic.",
    "limit_rounding": "← rounding",
    "limit_truncation": "truncation →",
    # a gradient that was given
    "given_gradient": (
        "{root} is no single number, so backward is given a vector v with a weight for each of its elements, "
        "and "
        "computes vᵀJ in one pass: the same as ({v} * {root}).sum().backward()."
    ),
    "given_arrives": "vᵀJ, into {name}.grad",
    "given_returned": "vᵀJ, returned for {name}",
    # numbers that were checked
    "check_agrees": "Backward agrees with the difference quotients.",
    "check_left_out": "Pairs of an output and an input that are not shown: {n}.",
    "matrix_size": "({rows} × {columns}, not all shown)",
    "check_title": "Rows: the elements of {row}. Columns: the elements of output {i}.",
    "check_input": "input {j}",
    "check_analytical": "by backward (analytical)",
    "check_numerical": "by differences (numerical)",
    "check_difference": "difference",
    "cause_at": "line {line}",
    "why_jacobian": (
        "For output {i} and input {j}, backward gives another derivative than difference quotients."
    ),
    "why_jacobian_second": (
        "For output {i} and input {j}, the backward of the gradient gives another second derivative than "
        "difference quotients."
    ),
    "why_jacobian_place": (
        "∂{above}/∂{below} is {analytical} by backward and {numerical} by the difference quotient. "
        "Places that do not agree: {n} of {total}."
    ),
    "why_jacobian_place_second": (
        "∂{above}/∂{below}, where out is a gradient, is {analytical} by its backward and {numerical} by the "
        "difference quotient. Places that do not agree: {n} of {total}."
    ),
    "fix_jacobian_input": "Look at the gradient that {function}.backward returns for {name} (line {line}).",
    "fix_jacobian": "Look at what {function}.backward returns (line {line}).",
    "why_single_precision": (
        "Single precision: {names}. A difference of so few digits over a step of {eps} is mostly rounding, "
        "so "
        "this does not tell whether backward is wrong."
    ),
    "fix_single_precision": "Check with inputs of dtype=torch.float64: float32 is not enough.",
    # errors of backward calls
    "unseen_here": "a line that is not known",
    "source_at": "{source} (line {line})",
    "mark_freed": "freed",
    "mark_freed_by": "freed by line {line}",
    "mark_changed": "changed in place",
    "mark_changed_by": "changed by line {line}",
    "mark_no_graph": "no graph",
    "mark_shape": "shape {shape}",
    "mark_asked_later": "asked too late",
    "mark_unused": "no path leads here",
    "mark_nan": "sent nan",
    "second_backward_why": "{first} freed what {node} had saved; {second} needs it again.",
    "second_backward_why_once": (
        "{name} was computed once, by {made}. The first {first} freed what {node} had saved; the next needs "
        "it again."
    ),
    "second_backward_why_carried": (
        "{name} comes from an earlier round, and the call there, {first}, freed what {node} had saved. In "
        "this round the path leads back to it."
    ),
    "second_backward_why_unseen": (
        "An earlier backward call freed what {node} had saved; {second} needs it again."
    ),
    "second_backward_why_some": "An earlier backward call freed saved values that {second} needs again.",
    "second_backward_why_somewhere": "{first} freed saved values that {second} needs again.",
    "second_backward_fix": "Compute {names} anew before {second}. {keep}",
    "second_backward_fix_unnamed": "Run the forward pass again before {second}. {keep}",
    "second_backward_keep": "Only for a graph that you really reuse: retain_graph=True in {first}.",
    "second_backward_keep_off": (
        "Only for a graph that you really reuse: leave retain_graph=False out of {first}, for "
        "create_graph=True alone keeps it."
    ),
    "second_backward_keep_instead": (
        "Only for a graph that you really reuse: retain_graph=True instead of retain_graph=False in {first}."
    ),
    "second_backward_fix_once": (
        "In a loop, compute {name} again in every round. Only for a graph that you really reuse: "
        "retain_graph=True."
    ),
    "second_backward_fix_each": (
        "Compute {name} again before each of these calls. Only for a graph that you really reuse: "
        "retain_graph=True."
    ),
    "second_backward_fix_sum": "Go backward once from both: ({a} + {b}).backward(). {keep}",
    "second_backward_fix_carried": (
        "Cut the old graph off at the start of a round: {name} = {name}.detach(). Its numbers stay."
    ),
    "second_backward_fix_anew": (
        "Run the forward pass again before each backward call. Only for a graph that you really reuse: "
        "retain_graph=True the first time."
    ),
    "freed_read_why": "{first} freed what {node} had saved, so {read} cannot be read any more.",
    "freed_read_why_unseen": (
        "An earlier backward call freed what this node had saved, so {read} cannot be read any more."
    ),
    "freed_read_fix": "Read {read} before {first}. Or have what was saved kept: {call}.",
    "freed_read_fix_at": "Read {read} before {first}. Or have what was saved kept: retain_graph=True there.",
    "freed_read_fix_unseen": (
        "Read {read} before backward runs. Or have what was saved kept: retain_graph=True in that call."
    ),
    "saved_modified_why": (
        "{node} had saved {name} at version {then}. Then {writer} wrote to it, and now it is at version "
        "{now}."
    ),
    "saved_modified_why_through": (
        "{node} had saved {name} at version {then}. Then {writer} wrote to {through}, which uses the same "
        "memory, and now {name} is at version {now}."
    ),
    "saved_modified_why_unseen": (
        "{node} had saved {name} at version {then}. It was written to since, and now it is at version {now}."
    ),
    "saved_modified_why_unknown": (
        "{node} had saved a tensor at version {then}. It was written to since, and now it is at version "
        "{now}."
    ),
    "saved_modified_fix": (
        "Make a new tensor instead of changing {written} in place: {written} = {written} + 1, for example. "
        "Or write to a copy: {written}.clone()."
    ),
    "saved_modified_fix_update": "Run {second} first, and change {name} after it.",
    "saved_modified_fix_unknown": (
        "Make a new tensor instead of changing one in place: y = y + 1, not y += 1. Or write to a copy: "
        "y.clone()."
    ),
    "no_grad_fn_why_detach": "{root} has no graph: {cut} passed on the numbers of {source} without the path.",
    "no_grad_fn_why_data": "{root} has no graph: {cut} passed on the numbers of {source} without the path.",
    "no_grad_fn_why_no_grad": "{root} has no graph: {cut} ran under no_grad(), so no node was made.",
    "no_grad_fn_why_inference": "{root} has no graph: {cut} ran in inference mode, so no node was made.",
    "no_grad_fn_why_numpy": (
        "{root} has no graph: {cut} was made from a NumPy array with the numbers of {source}. NumPy knows "
        "no graph."
    ),
    "no_grad_fn_why_item": (
        "{root} has no graph: {cut} was made from Python numbers taken out of {source}, which know no graph."
    ),
    "no_grad_fn_why_tensor": "{root} has no graph: {cut} made a new tensor of the numbers of {source} alone.",
    "no_grad_fn_why_integer": (
        "{root} has no graph: {cut} gives whole numbers or truth values, through which no gradient flows."
    ),
    "no_grad_fn_why_made": "{root} was made from data, by {made}, and does not require gradients.",
    "no_grad_fn_why_asks": "{root} was computed from {names}, and nothing there requires gradients.",
    "no_grad_fn_why_nothing": "Nothing that {root} was computed from requires gradients.",
    "no_grad_fn_why_later": (
        "{root} was computed from {source} before {asked} asked for gradients, so no node was made."
    ),
    "no_grad_fn_fix_later": "Ask for gradients first, then compute {root}.",
    "no_grad_fn_why_unknown": "No graph leads back from {root}.",
    "no_grad_fn_why_gradient": (
        "{root} has no graph: {made} computed it without create_graph=True, so no nodes were made on the way."
    ),
    "no_grad_fn_why_gradient_constant": (
        "{root} has no graph although {made} was to build one: nothing that {root} was computed from "
        "requires gradients. It is a constant, as every derivative of a linear function is."
    ),
    "no_grad_fn_why_gradient_unseen": (
        "{root} has no graph: a gradient has one only where backward computes it with create_graph=True."
    ),
    "no_grad_fn_why_from_gradient": (
        "{root} has no graph, for {gradient} has none: {made} computed it without create_graph=True, so no "
        "nodes were made on the way."
    ),
    "no_grad_fn_why_from_gradient_constant": (
        "{root} has no graph, for {gradient} has none although {made} was to build one: nothing that "
        "{gradient} was computed from requires gradients."
    ),
    "no_grad_fn_why_from_gradient_unseen": (
        "{root} has no graph, for {gradient} has none: a gradient has one only where backward computes it "
        "with create_graph=True."
    ),
    "no_grad_fn_fix_gradient": "To differentiate {gradient} again, have its graph built: {call}.",
    "no_grad_fn_fix_gradient_at": (
        "To differentiate {gradient} again, have its graph built: create_graph=True in {made}."
    ),
    "no_grad_fn_fix_gradient_unseen": (
        "To differentiate {gradient} again, compute it with create_graph=True, in backward() or in "
        "autograd.grad()."
    ),
    "no_grad_fn_fix_detach": (
        "Leave the detach() out where gradients are to flow. {root}.requires_grad = True would not help: it "
        "makes a new leaf that leads nowhere."
    ),
    "no_grad_fn_fix_data": (
        "Leave the .data out where gradients are to flow. {root}.requires_grad = True would not help: it "
        "makes a new leaf that leads nowhere."
    ),
    "no_grad_fn_fix_no_grad": (
        "Compute it outside no_grad(). {root}.requires_grad = True would not help: it makes a new leaf that "
        "leads nowhere."
    ),
    "no_grad_fn_fix_inference": (
        "Compute it outside inference_mode(). {root}.requires_grad = True would not help: it makes a new "
        "leaf that leads nowhere."
    ),
    "no_grad_fn_fix_numpy": (
        "Stay with tensors and their functions from {source} to {root}. {root}.requires_grad = True would "
        "not help: it makes a new leaf that leads nowhere."
    ),
    "no_grad_fn_fix_item": (
        "Stay with tensors from {source} to {root}, without item() or float(). {root}.requires_grad = True "
        "would not help: it makes a new leaf that leads nowhere."
    ),
    "no_grad_fn_fix_tensor": (
        "Use {source} itself instead of a new tensor. {root}.requires_grad = True would not help: it makes "
        "a new leaf that leads nowhere."
    ),
    "no_grad_fn_fix_integer": (
        "Use an operation that has a derivative. {root}.requires_grad = True would not help: it makes a new "
        "leaf that leads nowhere."
    ),
    "no_grad_fn_fix_made": (
        "Ask for gradients where the data is made: torch.tensor(…, requires_grad=True). Then compute {root} "
        "from it."
    ),
    "no_grad_fn_fix_asks": (
        "Make the tensor whose gradient you want with requires_grad=True, before {root} is computed from it."
    ),
    "implicit_gradient_why": (
        "{root} has the shape {shape}. Without gradient= backward starts with 1, which fits one number only."
    ),
    "implicit_gradient_fix_backward": (
        "Make one number of it: {called}.sum().backward(), or mean(). Or say how much each element counts: "
        "{called}.backward(gradient=torch.ones_like({root})), the v of vᵀJ; ones give the same as sum()."
    ),
    "implicit_gradient_fix_grad": (
        "Make one number of it: {called}.sum(), or mean(). Or say how much each element counts: "
        "grad_outputs=torch.ones_like({root}), the v of vᵀJ; ones give the same as sum()."
    ),
    "gradient_shape_why": (
        "The gradient has the shape {given}, and {root} has the shape {wanted}. It needs one number for "
        "each element of {root}."
    ),
    "gradient_shape_why_some": (
        "The gradient has the shape {given}, and the tensor that it is for has the shape {wanted}."
    ),
    "gradient_shape_fix": "Give a gradient of the shape {wanted}: torch.ones_like({root}), for example.",
    "unused_input_why": "{roots} was not computed from {input}.",
    "unused_input_why_cut": "{roots} was computed from {input}, but {cut} ended the path.",
    "unused_input_why_no_grad": (
        "{roots} was computed from {input}, but {cut} ran under no_grad(), so the path ended."
    ),
    "unused_input_why_inference": (
        "{roots} was computed from {input}, but {cut} ran in inference mode, so the path ended."
    ),
    "unused_input_why_renamed": (
        "{roots} was computed from {earlier}. What is called {plain} now, {input}, is another tensor."
    ),
    "unused_input_fix_renamed": "Give one of the two another name, and ask for the gradient of {earlier}.",
    "unused_input_why_none": "No gradient came back to {input}.",
    "unused_input_fix": "Leave {input} out, or say allow_unused=True: then its gradient is None.",
    "unused_input_fix_cut": (
        "Compute it without that cut. With allow_unused=True the gradient of {input} is None."
    ),
    "input_asks_not_why": "{input} does not require gradients, so {call} cannot give one for it.",
    "input_asks_not_why_cut": (
        "{input} does not require gradients, because {cut} ended the path from {source}."
    ),
    "input_asks_not_why_no_grad": (
        "{input} does not require gradients, because {cut} ran under no_grad(), so the path from {source} "
        "ended."
    ),
    "input_asks_not_why_inference": (
        "{input} does not require gradients, because {cut} ran in inference mode, so the path from {source} "
        "ended."
    ),
    "input_asks_not_fix": "Make {input} with requires_grad=True before it is used, or leave it out here.",
    "input_asks_not_fix_cut": "Compute {input} without that cut, or leave it out here.",
    "hook_shape_why_shape": "The hook {hook} returned a gradient of another shape than the one it was given.",
    "hook_shape_why_shape_at": (
        "The hook {hook} on {name}, registered by {place}, returned a gradient of another shape than the "
        "one it was given."
    ),
    "hook_shape_why_dtype": "The hook {hook} was given a {was} and returned a {got}.",
    "hook_shape_why_dtype_at": (
        "The hook {hook} on {name}, registered by {place}, was given a {was} and returned a {got}."
    ),
    "hook_shape_why_count": "The hook {hook} returned {got} gradients instead of {was}.",
    "hook_shape_why_count_at": (
        "The hook {hook} on {name}, registered by {place}, returned {got} gradients instead of {was}."
    ),
    "hook_shape_why_type": "A hook returned something of the type {got}, which is no tensor.",
    "hook_shape_why_type_at": (
        "The hook {hook} on {name}, registered by {place}, returned something of the type {got}, which is "
        "no tensor."
    ),
    "hook_shape_fix": (
        "A hook may change the numbers, not their shape and dtype. Return such a tensor, or None to leave "
        "all as it is."
    ),
    "wrong_count_why": (
        "{method} must give one gradient for each input of forward, so {expected} and not {got}."
    ),
    "wrong_count_why_at": (
        "{method} must give one gradient for each input of forward, so {expected} and not {got}: {place}."
    ),
    "wrong_count_fix": (
        "Return the gradients in the order of forward's inputs, without one for ctx; None where none is "
        "needed."
    ),
    "wrong_gradient_why": (
        "The gradient that {method} gave for input {i} has the shape {got}, and that input has the shape "
        "{expected}."
    ),
    "wrong_gradient_why_at": (
        "The gradient that {method} gave for input {i} has the shape {got}, and that input has the shape "
        "{expected}: {place}."
    ),
    "wrong_gradient_fix": (
        "Return a gradient of the shape {expected}: one number for each number of the input."
    ),
    "nan_why": "{node} took {took} and sent nan.",
    "nan_why_saved": "With {saved} saved, {node} took {took} and sent nan.",
    "nan_fix": "Look at what goes into {made}: there the derivative is not a finite number.",
    "nan_fix_masked": (
        "Keep such values away before {made}. A factor 0 behind it does not help: backward computes 0 · "
        "inf, which is nan."
    ),
    "raised_why": "Your own code, which backward called, raised it: {place}.",
    "raised_why_backward": "{method} raised it, while {node} ran: {place}.",
    "raised_why_hook": "The hook {hook} on {name} raised it: {place}.",
    # errors
    "error": "error",
    "why": "why",
    "fix": "fix",
    "stopped_here": "stopped here",
    "graph_until_error": "The graph up to the error",
    "error_caught": "caught error",
    "note": "note",
    "unexplained": "What went wrong could not be explained: {problem}",
    "error_unknown": "Nothing more is known about this error.",
    "no_error": "There has been no error yet.",
    # errors of calls other than backward
    "also_called": "{text} ({name})",
    "leaf_in_place_why": (
        "{name} is a leaf that requires gradients. Written to in place it would become the result of an "
        "operation, and no gradient would be kept in {called}.grad."
    ),
    "leaf_in_place_fix": (
        "To update {name}, write to it inside `with torch.no_grad():`. To compute with the new value, make "
        "a new tensor of it."
    ),
    "view_of_leaf_in_place_why": (
        "{name} uses the memory of {leaf}, a leaf that requires gradients: to write to {name} is to write "
        "to {leaf} in place."
    ),
    "view_of_leaf_in_place_fix": (
        "To update {leaf}, write to it inside `with torch.no_grad():`. To compute with the new values, "
        "write to a copy: {leaf}.clone()."
    ),
    "item_of_leaf_in_place_why": (
        "{name} is a leaf that requires gradients, and an assignment to a part of it changes it in place."
    ),
    "item_of_leaf_in_place_fix": (
        "To update {name}, write to it inside `with torch.no_grad():`. To compute with the new values, "
        "write to a copy: {called}.clone()."
    ),
    "view_of_several_why": (
        "{name} is one of several views that one operation gave. They have one backward node together, so "
        "none of them can be written to alone."
    ),
    "view_of_several_fix": (
        "Compute a new tensor from {name} instead of writing to it, or write to {called}.clone()."
    ),
    "view_of_function_why": (
        "{name} came out of a custom Function ({node}) and uses the memory of its input: what is written "
        "there would pass by the Function's own backward."
    ),
    "view_of_function_fix": "Write to a copy of it: {called}.clone().",
    "view_of_no_grad_why": (
        "{name} is a view that was made under no_grad(), outside the graph, and now it is written to while "
        "gradients are recorded: whether backward() is to know of that is not clear."
    ),
    "view_of_no_grad_late": (
        "This view was made under no_grad(), outside the graph, and its memory was written to while "
        "gradients are recorded: whether backward() is to know of that is not clear."
    ),
    "view_of_no_grad_fix": (
        "Make the view and write to it both inside no_grad(), if no gradient is to flow through it; else "
        "both outside."
    ),
    "view_of_inference_why": (
        "{name} is a view that was made in inference mode, outside the graph, and now it is written to "
        "while gradients are recorded: whether backward() is to know of that is not clear."
    ),
    "view_of_inference_late": (
        "This view was made in inference mode, outside the graph, and its memory was written to while "
        "gradients are recorded: whether backward() is to know of that is not clear."
    ),
    "view_of_inference_fix": (
        "Make the view and write to it both in inference mode, if no gradient is to flow through it; else "
        "both outside."
    ),
    "integer_requires_grad_why": (
        "{name} is {dtype}. A derivative needs numbers that can change by a little, and only floating "
        "point and complex ones can."
    ),
    "integer_requires_grad_fix": "Make a floating point tensor first: {called}.float().",
    "integer_requires_grad_new": (
        "This would be a tensor of whole numbers or truth values. A derivative needs numbers that can "
        "change by a little, and only floating point and complex ones can."
    ),
    "integer_requires_grad_new_fix": "Write 1. instead of 1, or say dtype=torch.float32.",
    "flag_of_non_leaf_why": (
        "{name} was computed, and it requires gradients because something that it was computed from does. "
        "Only for a leaf can that be switched off."
    ),
    "flag_of_non_leaf_fix": "For the same numbers without a graph take {called}.detach().",
    "flag_of_non_leaf_on_why": (
        "{name} was computed, and it requires gradients already, because something that it was computed "
        "from does. Only for a leaf can the flag be set."
    ),
    "flag_of_non_leaf_on_fix": (
        "Leave this out. To see the gradient of {name}, call {called}.retain_grad() before backward()."
    ),
    "retain_grad_without_why": "{name} does not require gradients, so none comes to it that could be kept.",
    "retain_grad_without_fix": "Compute {name} from a tensor that requires gradients.",
    "hook_without_why": (
        "{name} does not require gradients, so none comes to it and the hook would never be called."
    ),
    "hook_without_fix": "Compute {name} from a tensor that requires gradients.",
    "ends_no_grad": "{name} was computed under no_grad() in line {line}.",
    "ends_no_grad_fix": "Compute {name} outside no_grad().",
    "ends_inference": "{name} was computed in inference mode in line {line}.",
    "ends_inference_fix": "Compute {name} outside inference mode.",
    "ends_detach": "In line {line} detach() cut {name} off from {source}.",
    "ends_detach_fix": "Use {source} itself instead of {name} where gradients are to flow.",
    "ends_made": "{name} was made in line {line} without requires_grad=True.",
    "ends_made_fix": "Make {name} with requires_grad=True.",
    "ends_data": "In line {line} .data cut {name} off from {source}.",
    "ends_data_fix": "Use {source} itself instead of {name} where gradients are to flow.",
    "ends_numbers": "{name} was made in line {line} from numbers of {source}, and numbers have no graph.",
    "ends_numbers_fix": "Go on with the tensor {source} itself where gradients are to flow.",
    "ends_integer": "{name} is {dtype}, and only floating point and complex tensors can require gradients.",
    "hook_of_non_leaf_why": (
        "{name} was computed. Such a hook runs when a gradient was added to the .grad of a leaf, which "
        "does not happen here."
    ),
    "hook_of_non_leaf_fix": "Use {called}.register_hook(…), which sees the gradient of any tensor.",
    "numpy_of_graph_why": (
        "{name} requires gradients, and NumPy keeps no graph: no gradient could come back through what it "
        "computes."
    ),
    "numpy_of_graph_fix": (
        "If only the numbers are needed: {called}.detach().numpy(). If gradients are to flow, compute with "
        "tensors."
    ),
    "deepcopy_of_non_leaf_why": (
        "{name} was computed: its history belongs to it, and a deep copy would have to copy that as well."
    ),
    "deepcopy_of_non_leaf_fix": (
        "For the numbers alone: {called}.detach().clone(). For a copy that gradients flow through: "
        "{called}.clone()."
    ),
    "optimizer_of_non_leaf_why": (
        "{name} was computed: backward() keeps no gradient in its .grad, and that is what the optimizer "
        "works with."
    ),
    "optimizer_of_non_leaf_fix": (
        "Give the optimizer the leaves that {name} is computed from, or make a leaf of it: "
        "{called}.detach().requires_grad_()."
    ),
    "assigned_shape_why": (
        "{name} has the shape {shape}. Its gradient has one number for each of its numbers, so its shape "
        "must be the same, not {given}."
    ),
    "assigned_shape_fix": "Assign a tensor of the shape {shape}.",
    "assigned_dtype_why": "{name} is {dtype}, and its gradient must be too, but this one is {given}.",
    "assigned_dtype_fix": "Convert the gradient first: .to({called}.dtype).",
    "assigned_type_why": (
        "The gradient of {name} is a tensor, or None where there is none; this is of type {given}."
    ),
    "assigned_type_fix": "Assign a tensor of the shape {shape}, or None.",
    "assigned_self_why": "{name} cannot be its own gradient: the next backward() would add to {name} itself.",
    "assigned_self_fix": "Assign a copy: {called}.detach().clone().",
    "mark_in_place": "not to be written to",
    "mark_memory": "this memory",
    "mark_dtype": "{dtype}",
    "mark_computed": "not a leaf",
    "mark_asks": "requires grad",
    "mark_asks_not": "no gradient asked for",
    "mark_cut": "cut here",
    "mark_assigned_shape": "shape {shape}, not {given}",
    "mark_assigned_dtype": "{dtype}, not {given}",
    "mark_assigned_type": "a tensor or None, not {given}",
    "mark_assigned_self": "its own gradient",
    # a node: how its op was called, the source of a custom Function
    "kind_tensor": "tensor",
    "kind_number": "number",
    "tip_kinds": "called as: {called}",
    "tip_digit": (
        "the {digit} in {name} counts the variants of this op that PyTorch derives separately, from 0"
    ),
    "code_at": "{name}: line {line}",
    "code_elsewhere": "{name}: defined outside this cell",
    "tip_leaf_constant": "a leaf, too: every tensor without a grad_fn is one, asking for a gradient or not",
    "creates_label": "graph",
    "creates": "create_graph=True: what this call computes becomes the graph of the gradient",
    "retains_label": "kept",
    "retains": "what the nodes have saved stays, so backward can go through it again (retain_graph=True)",
    # why not plain recursion
    "recursion_label": "recursion",
    "recursion": (
        "the queue has waited for {n} arrows; plain recursion would run {node} {times} times, once for "
        "each path"
    ),
    "recursion_head": (
        "Plain recursion would run {runs} nodes instead of {nodes}: a node once for every path that leads to "
        "it."
    ),
    "recursion_node": "{node} at {name}: {times} times",
    "recursion_wrong": (
        "{name} would get {wrong} instead of {right} if each node added what comes in to what it has and "
        "sent the sum on every time."
    ),
    "recursion_more": "… {n} more nodes",
    "recursion_right": "The queue runs a node once, when all arrows that lead to it have reported.",
    "recursion_none": "No two paths meet: plain recursion would run every node once, too.",
    "recursion_unknown": "There is no completed backward call to compare with.",
    # silent mistakes
    "new_leaf_why": (
        "{new} is a computed value that became a new leaf at {made}. It was cut off from {source} at "
        "{cut}, so nothing behind it gets a gradient: none arrives at {names}."
    ),
    "new_leaf_why_at_once": (
        "{made} made {new} a new leaf with no more than the numbers of {source}, so nothing behind it gets "
        "a gradient: none arrives at {names}."
    ),
    "new_leaf_fix_detach": (
        "To bring gradients to {names}, use {source} itself instead of {new}: requires_grad does not join "
        "what was cut."
    ),
    "new_leaf_fix_numbers": (
        "To bring gradients to {names}, go on with the tensor {source} itself, not with numbers taken out "
        "of it."
    ),
    "new_leaf_fix_mode": (
        "To bring gradients to {names}, compute {new} with gradients recorded, not under no_grad() or "
        "inference_mode(): requires_grad does not bring back what was not recorded."
    ),
    "mark_new_leaf": "a new leaf",
    "non_leaf_grad_why": (
        "{name}.grad is None: backward() computed the gradient {value}, but {name} is not a leaf, so it "
        "was not kept."
    ),
    "non_leaf_grad_fix": "Call {name}.retain_grad() before backward().",
    "mark_not_kept": "not kept",
    "single_precision_why": (
        "{name} is {dtype}. The check compares differences of about a millionth, and {dtype} does not hold "
        "enough digits for that: it can fail although the backward is right."
    ),
    "single_precision_fix": "Use double precision: {called}.double() (dtype float64).",
    # why_none
    "why_tensor": "tensor",
    "why_has_grad": "{name}.grad holds {value}, so it is not None.",
    "why_integer": (
        "{name}.grad is None because {name} is {dtype}: only floating point and complex tensors can "
        "require gradients."
    ),
    "why_no_flag": "{name}.grad is None because {name} does not require gradients.",
    "why_no_flag_no_grad": (
        "{name}.grad is None because {name} does not require gradients: {cut} ran under no_grad()."
    ),
    "why_no_flag_inference": (
        "{name}.grad is None because {name} does not require gradients: {cut} ran in inference mode."
    ),
    "why_no_flag_detach": (
        "{name}.grad is None because {name} does not require gradients: {cut} cut it off from {source}."
    ),
    "why_no_flag_numbers": (
        "{name}.grad is None because {name} does not require gradients: {cut} took no more than the "
        "numbers of {source}."
    ),
    "why_no_flag_behind": (
        "{name}.grad is None because {name} does not require gradients: it was computed from {middle}, and "
        "{cut} cut that off from {source}."
    ),
    "why_no_flag_made": (
        "{name}.grad is None because {name} does not require gradients: {cut} made it without "
        "requires_grad=True."
    ),
    "why_not_leaf": (
        "{name}.grad is None because {name} is not a leaf, and its gradient is kept only after "
        "{name}.retain_grad()."
    ),
    "why_not_leaf_value": (
        "{name}.grad is None because {name} is not a leaf: {call} computed its gradient {value}, but keeps "
        "it only after {name}.retain_grad()."
    ),
    "why_retained_late": (
        "{name}.grad is None because {name}.retain_grad() came only after {call}, and the gradient {value} "
        "had been computed by then."
    ),
    "why_reset_at": (
        "{name}.grad is None because it was set back in line {line}, after {call} had put {value} there."
    ),
    "why_reset_since": "{name}.grad is None because it was set back after {call} had put {value} there.",
    "why_asked_late": (
        "{name}.grad is None because {made} had used {name} before {asked} made it require gradients."
    ),
    "why_no_flag_off": (
        "{name}.grad is None because {name} does not require gradients: {asked} switched that off."
    ),
    "why_no_call": "{name}.grad is None: no backward() ran in the last watched cell.",
    "why_failed_early": (
        "{name}.grad is None: the last watched cell failed at {place} before any backward() had run."
    ),
    "why_failed": "{name}.grad is None because {call} failed before the gradient had reached {name}.",
    "why_grad_call": "{name}.grad is None because {call} returns gradients and puts nothing into .grad.",
    "why_inputs": "{name}.grad is None because {name} is not among the inputs= of {call}.",
    "why_none_sent": "{name}.grad is None because in {call} {node} sent None instead of a gradient.",
    "why_none_arrived": "{name}.grad is None because what arrived at it in {call} was None, not a gradient.",
    "why_cut": "{name}.grad is None because {cut} cut the path from {name} to {root}, where {call} began.",
    "why_new_leaf": (
        "{name}.grad is None because {cut} cut the path from {name} to {root}, and {made} then made {leaf} "
        "a new leaf, where the gradient of {call} ends."
    ),
    "why_new_leaf_at_once": (
        "{name}.grad is None because {cut} cut the path from {name} to {root} and made {leaf} a new leaf, "
        "where the gradient of {call} ends."
    ),
    "why_no_path": "{name}.grad is None because {root}, where {call} began, was not computed from {name}.",
    "why_not_in_graph": "{name}.grad is None because {name} is not in the graph that {call} went through.",
    "why_in_graph": (
        "{name}.grad is None although {name} is in the graph of {roots}: no gradient has come to it from "
        "there yet, or it was set back."
    ),
    "why_in_no_graph": (
        "{name}.grad is None, and {name} is in the graph of no other variable here, so no backward() from "
        "one of them can reach it."
    ),
    "why_unknown": "{name}.grad is None, and it is not certain why.",
}
