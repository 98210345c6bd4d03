"""Words in English: live values and the training that goes on."""

from __future__ import annotations

WORDS = {
    "live_no_program": "Nothing of this cell was recorded that could be computed again.",
    "live_no_argument": "an operation has an argument of the kind {kind}, which is not kept",
    "live_no_history": "a tensor with a history came from another cell, or from code that is not recorded",
    "live_no_room": "its tensors are too large",
    "live_no_end": "it has more than {most} operations",
    "live_no_exit": "line {line} takes numbers out of the tensors, and what Python does with them is not recorded",
    "live_no_error": "it ended with an error",
    "live_no_fault": "its operations could not be taken down ({problem})",
    "live_no_function": "{name} is a Function of yours, and your code is not run again",
    "live_no_op": "{name} cannot be computed again",
    "live_no_mode": "it uses the mode {mode}",
    "live_no_hook": "it has hooks, and your code is not run again",
    "live_no_two": "it computes with two libraries",
    "live_no_optimizer": "an optimizer changes its parameters",
    "live_no_same": "its operations, computed again, do not give the same numbers ({problem})",
    "live_no_leaf": "it has no small leaf of floating-point numbers that a variable names",
    "live_no_handle": "No number of this cell can be changed under the name {name}; there are: {names}",
    "live_no_several": "Only one element of {name} can be changed at a time.",
    "live_turned": "The cell would go on in another way: what it asks in line {line} was {before} and would be {after}.",
    "live_failed": "The cell would fail with this number: {problem}",
}
