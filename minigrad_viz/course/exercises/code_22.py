"""Code 22: a walk to every node of a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..answers import Raised, attempt, library_of

HINTS = {
    "right": (
        "Right: every node once, whether the graph is wide or thousands of nodes deep.",
        "맞습니다. 갈라지는 그래프에서도, 노드 수천 개가 이어진 그래프에서도 모든 노드를 한 번씩 찾습니다.",
    ),
    "no_function": (
        "A function is asked for: def names(node): …, and then answer = names, without calling it.",
        "함수를 써야 합니다. def names(node): … 를 쓰고, 호출하지 말고 answer = names로 쓰세요.",
    ),
    "no_list": (
        "The function should return a list of names, which are texts: node.name() is one.",
        "함수는 이름의 리스트를 반환해야 합니다. 이름은 node.name()과 같은 문자열입니다.",
    ),
    "twice": (
        "Some node is in your list more than once: AccumulateGrad is reached over two edges. Remember the "
        "nodes where you have been.",
        "같은 노드가 리스트에 두 번 이상 있습니다. AccumulateGrad에는 두 간선으로 닿습니다. 들른 노드를 "
        "기억하세요.",
    ),
    "same_name": (
        "A node is missing: y and w were made by two nodes with the same name. Remember the nodes where you "
        "have been, not their names.",
        "빠진 노드가 있습니다. y와 w를 만든 두 노드는 이름이 같습니다. 이름이 아니라 들른 노드를 기억하세요.",
    ),
    "start": (
        "The node where you start, AddBackward0, is missing.",
        "시작하는 노드인 AddBackward0이 빠졌습니다.",
    ),
    "end": (
        "The last node, AccumulateGrad, is missing. It has no edges, but it is a node.",
        "마지막 노드인 AccumulateGrad가 빠졌습니다. 나가는 간선은 없지만 이것도 노드입니다.",
    ),
    "none": (
        "It works for this graph, but x * 2 has an edge that leads nowhere: (None, 0), as 2 needs no "
        "gradient. Step over it.",
        "이 그래프에서는 되지만, x * 2에는 아무 데도 닿지 않는 간선 (None, 0)이 있습니다. 2는 변화도가 필요 "
        "없기 때문입니다. 이런 간선은 건너뛰세요.",
    ),
    "deep": (
        "It works for this graph, but in one of 5,000 nodes the calls go too deep. Keep a list of nodes that "
        "are still to visit, and a loop.",
        "이 그래프에서는 되지만, 노드가 5,000개인 그래프에서는 호출이 너무 깊어집니다. 아직 들르지 않은 "
        "노드의 리스트와 반복문을 쓰세요.",
    ),
    "other": (
        "Not yet: some name is missing or should not be there. Compare your list with the picture.",
        "아직 아닙니다. 빠진 이름이나 있으면 안 되는 이름이 있습니다. 리스트를 그림과 비교해 보세요.",
    ),
}


def nodes(root: Any) -> list[Any]:
    """Every node that can be reached from `root`."""
    waiting, seen = [root], {root}
    for node in waiting:
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return waiting


def names(found: list[Any]) -> Counter[str]:
    return Counter(plain(node.name()) for node in found)


def listed(given: object) -> Counter[str] | None:
    """The names that somebody's function returned; None if these are no names."""
    if not isinstance(given, list | tuple | set) or not all(isinstance(name, str) for name in given):
        return None
    return Counter(map(plain, given))


def plain(name: str) -> str:
    """A node's name without namespace and number, where name() and the name of its class can differ."""
    return name.rpartition("::")[2].rstrip("0")


def two_ways(torch: Any) -> Any:
    """Code 22's graph."""
    x = torch.tensor(5.0, requires_grad=True)
    return torch.log(x**3) + torch.sqrt(x**2)


def number_inside(torch: Any) -> Any:
    return torch.tensor(5.0, requires_grad=True) * 2


def chain(torch: Any) -> Any:
    x = torch.tensor(5.0, requires_grad=True)
    for _ in range(5000):
        x = x + 1
    return x


def every_node(answer: object) -> str:
    """A function from a node to the names of all nodes behind it, itself included."""
    if not callable(answer):
        return "no_function"
    torch = library_of(answer)
    told = on_two_ways(answer, two_ways(torch).grad_fn)
    if told != "right":
        return told
    for hint, graph in (("none", number_inside(torch)), ("deep", chain(torch))):
        try:
            given = attempt(answer, graph.grad_fn)
        except Raised:
            return hint
        if listed(given) != names(nodes(graph.grad_fn)):
            return hint
    return "right"


def on_two_ways(answer: Callable[..., Any], root: Any) -> str:
    given = listed(attempt(answer, root))
    if given is None:
        return "no_list"
    all_nodes = nodes(root)
    truth = names(all_nodes)
    if given == truth:
        return "right"
    if set(given) == set(truth):
        return "twice" if given > truth else "same_name"
    if given == names(all_nodes[1:]):
        return "start"
    return "end" if given == names([node for node in all_nodes if node.next_functions]) else "other"


EXERCISES = {"": every_node}
