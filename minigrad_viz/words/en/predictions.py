"""Words in English: questions about a cell, and what is said of an answer."""

from __future__ import annotations

WORDS = {
    # what is asked
    "quiz_ask_grad": "`{call}` is about to write into {x}. What will be in {x}.grad?",
    "quiz_ask_again": "{x}.grad already holds {before} when `{call}` runs. What will be "
    "in {x}.grad afterwards?",
    "quiz_ask_after": "`{call}` runs. What will be in {x}.grad afterwards?",
    "quiz_ask_next": "{node} at {at} has run. Which node runs next: {names}?",
    "quiz_ask_leaves": "Which of these tensors are leaves: {names}?",
    "quiz_ask_shape": "What is the shape of {name} = {expr}?",
    "quiz_ask_raises": "Will line {n} raise an error: `{code}`?",
    # what is said of an answer
    "quiz_right": "Right. {solution}",
    "quiz_solution": "{formula}",
    "quiz_solution_next": "{node} at {at} runs next: of the nodes that are ready, it is the newest.",
    "quiz_solution_leaf": "{node} at {at} runs next: an AccumulateGrad runs as soon as its "
    "gradient has arrived.",
    "quiz_solution_raises": "It raises {error}: {why}",
    "quiz_solution_silent": "Line {n}, `{code}`, raises no error.",
    "quiz_either": "More than one mistake gives this answer. {first} Or: {others}",
    "quiz_no_fit": "This is not the answer, and no usual mistake gives it.",
    "quiz_step_ask": "No usual mistake gives this answer. Go step by step: what does "
    "{node} at {at} pass to {to}?",
    "quiz_step_wrong": "The first wrong step is {node} at {at}. Check what it passes to {to}.",
    "quiz_step_sum": "Every step is right. Add what arrives to get {x}.",
    "quiz_read_number": "Type a number such as 0.6, 3/5 or 75*0.008, a list such as [1, 2], or None.",
    "quiz_read_shape": "Type a shape such as (2, 3); the shape of a single number is ().",
    "quiz_read_names": "Type names with commas between them, such as x, w.",
    "quiz_read_yes": "Type yes or no.",
    # what a wrong gradient tells
    "quiz_one_path": "You followed the path through {taken} only. {x} is used twice: add "
    "the gradient from the path through {missing}.",
    "quiz_many_paths": "You followed the path through {taken} only. {x} is used {n} times: "
    "add the gradients from the paths through {missing}.",
    "quiz_once": "You counted one use of {x} in {at}. {at} uses {x} more than once: "
    "add the gradient of every use.",
    "quiz_overwrites": "You kept only the gradient that arrives last at {x}. Gradients that meet are added.",
    "quiz_forgets_before": "The value {before} was already in {x}.grad. backward() adds to it "
    "and does not replace it.",
    "quiz_no_zero": "You added {before}, but {x}.grad was cleared before this call.",
    "quiz_ignores_detach": "You followed the path through detach(). It cuts the link to {x}, "
    "so no gradient passes it.",
    "quiz_sign": "You lost a minus: {node} at {at} changes the sign of what it passes to {to}.",
    "quiz_no_division": "You did not divide by the number of elements. The mean in {at} divides by {n}.",
    "quiz_no_broadcast_sum": "You did not sum over the broadcast dimensions. {to} has the shape "
    "{small}, and {at} has {large}.",
    "quiz_wrong_dimension": "You summed over the wrong dimension. {to} has the shape {small}, "
    "so its gradient has it too.",
    "quiz_transposes": "The transpose is wrong at {node} ({at}). Check which factor of the "
    "product is transposed for {to}.",
    "quiz_no_seed": "You started with 1, but backward() was given another gradient.",
    "quiz_keeps_power": "You did not lower the exponent in {at}: the derivative of xⁿ is n·xⁿ⁻¹.",
    "quiz_no_local": "You passed the gradient through {at} unchanged. {node} multiplies "
    "it by its local derivative.",
    "quiz_no_local_all": "You passed the gradient on unchanged. Every node multiplies it by "
    "its local derivative.",
    "quiz_no_upstream": "That uses the local derivative of {node} alone. Multiply it by the "
    "gradient that {at} receives.",
    "quiz_no_upstream_all": "Those are the last local derivatives alone. Multiply them by the "
    "gradients that come in on the way to {x}.",
    "quiz_adds_first": "You added before you multiplied. Multiply along each path first, then add at {x}.",
    "quiz_adds_factors": "You added at {node} ({at}). It multiplies the gradient by its local derivative.",
    "quiz_adds_factors_all": "You added the factors along the path. The chain rule multiplies them.",
    "quiz_value_instead": "You multiplied by the value of {at}. {node} multiplies by the "
    "derivative with respect to {to}.",
    "quiz_other_leaf": "That is the gradient of {x}.",
    "quiz_zero_for_none": "No gradient arrives at {x}, so {x}.grad stays as it was. None is "
    "not the same as 0.",
    # what other wrong answers tell
    "quiz_next_recursion": "{node} at {at} comes next in plain recursion. The engine runs the "
    "newest of the nodes that are ready.",
    "quiz_next_older": "{node} at {at} is ready, but an operation made later runs first.",
    "quiz_next_waits": "{node} at {at} is not ready: it waits for {n} more gradients.",
    "quiz_next_ran": "{node} at {at} has run already. Every node runs once.",
    "quiz_leaves_result": "{names} is not a leaf: an operation computed it from a tensor with requires_grad.",
    "quiz_leaves_quiet": "{names} is a leaf too, although it requires no gradient.",
    "quiz_leaves_missing": "You left out {names}: no operation computed it.",
    "quiz_shape_input": "That is the shape of {x}. {op} changes it.",
    "quiz_shape_inner": "The inner sizes, {n} and {n}, must be equal and do not appear in "
    "the result. The outer ones do.",
    "quiz_shape_reversed": "The sizes are right, but their order is not.",
    "quiz_shape_one": "A single number has the shape (). (1,) is a vector with one element.",
    "quiz_shape_kept": "There is one dimension too many. A dimension that is reduced "
    "disappears unless keepdim=True.",
    "quiz_raises_silent": "Line {n} does raise an error.",
    "quiz_raises_loud": "Line {n} raises no error.",
    "quiz_hint_paths": "{n} paths lead from {root} to {x}. Multiply along each path, then add the products.",
    "quiz_hint_path": "Multiply the local derivatives along the path from {root} to {x}.",
    "quiz_hint_none": "Look whether a path of recorded operations leads from {root} to {x}.",
    "quiz_hint_again": "backward() adds to what {x}.grad holds. Work out what one call adds.",
    "quiz_hint_next": "A node is ready when all its gradients have arrived. An "
    "AccumulateGrad then runs at once. Of the others, the newest runs "
    "first.",
    "quiz_hint_leaves": "A tensor is a leaf if its grad_fn is None.",
    "quiz_hint_shape": "Write down the shapes of the inputs, then what the operation does to each size.",
    "quiz_hint_raises": "Ask which saved values this line needs, and whether they are still there.",
    "option_predict": "ask what will happen before it is shown",
    "quiz_title": "Predict before you look:",
    "quiz_how": "Answer with {code}; .hint() helps, and .show() gives the solution.",
    "quiz_nothing": "This cell leaves nothing to predict.",
    "quiz_unanswered": "predict() found no answer to {subject}. Ask it before backward(), "
    "or run the cell under %%autograd. What this cell can be asked: "
    "{known}.",
    "quiz_prompt": "Your answer (? for a hint, Enter for the solution):",
    "quiz_predict": "Predict",
    "quiz_check": "Check",
    "quiz_hint": "Hint",
    "quiz_show": "Show me",
    "quiz_continue": "Continue",
    "quiz_taken": "the path you took",
    "quiz_missing": "the path still to add",
    "quiz_so_far": "Right so far.",
    "quiz_asks": "What about {x}?",
    "quiz_attempt": "attempt {i}",
    "quiz_back": "Back to {x}",
    "quiz_label_leaves": "leaves:",
    "quiz_label_next": "runs next:",
    "quiz_label_raises": "error?",
}
