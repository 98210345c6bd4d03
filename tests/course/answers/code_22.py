"""Answers to Code 22's exercise, and the feedback that each receives."""


def walk(node, name=lambda node: node.name(), key=id):
    waiting, seen, found = [node], {key(node)}, []
    while waiting:
        node = waiting.pop()
        found.append(name(node))
        for following, _ in node.next_functions:
            if following is not None and key(following) not in seen:
                seen.add(key(following))
                waiting.append(following)
    return found


def every_edge(node):
    waiting, found = [node], []
    while waiting:
        node = waiting.pop()
        found.append(node.name())
        waiting += [following for following, _ in node.next_functions if following is not None]
    return found


def no_check_for_none(node):
    waiting, seen, found = [node], {node}, []
    while waiting:
        node = waiting.pop()
        found.append(node.name())
        for following, _ in node.next_functions:
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return found


def recursive(node, seen=None):
    seen = set() if seen is None else seen
    seen.add(node)
    found = [node.name()]
    for following, _ in node.next_functions:
        if following is not None and following not in seen:
            found += recursive(following, seen)
    return found


ANSWERS = {
    "": [
        (walk, "right"),
        (lambda node: tuple(walk(node, lambda node: type(node).__name__)), "right"),
        (lambda node: [f"torch::autograd::{name}" for name in walk(node)], "right"),
        (every_edge, "twice"),
        (lambda node: walk(node, key=lambda node: node.name()), "same_name"),
        (lambda node: set(walk(node)), "same_name"),
        (lambda node: walk(node)[1:], "start"),
        (lambda node: [name for name in walk(node) if "Accumulate" not in name], "end"),
        (no_check_for_none, "none"),
        (lambda node: [name for name in no_check_for_none(node) if name], "none"),
        (recursive, "deep"),
        (lambda node: [node.name()], "other"),
        (lambda node: [], "other"),
        (lambda node: walk(node, lambda node: node), "no_list"),
        (lambda node: None, "no_list"),
        (lambda node: " ".join(walk(node)), "no_list"),
        (len, "raised"),
        (None, "no_function"),
        ("x", "no_function"),
        ([1, 2], "no_function"),
    ]
}
