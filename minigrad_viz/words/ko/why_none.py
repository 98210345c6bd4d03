"""Words in Korean: why `x.grad` is None."""

from __future__ import annotations

WORDS = {
    # why_none
    "why_has_grad": "{name}.grad는 None이 아니라 {value}입니다.",
    "why_integer": "{name}의 dtype이 {dtype}이고 변화도를 요구할 수 있는 것은 부동소수점과 복소수 텐서뿐이므로 {name}.grad는 None입니다.",
    "why_no_flag": "{name:이} 변화도를 요구하지 않으므로 {name}.grad는 None입니다.⟦ {name:은} {middle:으로} 계산되었습니다.⟧⟦ {ended}⟧",
    "why_not_leaf": "{name:은} 잎이 아니고 그 변화도는 {name}.retain_grad() 뒤에만 저장되므로 {name}.grad는 None입니다.",
    "why_not_leaf_value": "{name:은} 잎이 아니어서 {call:이} 변화도 {value:을} 계산했지만 {name}.retain_grad() 뒤에만 저장하므로 {name}.grad는 None입니다.",
    "why_retained_late": "{call:이} 변화도 {value:을} 계산한 뒤에야 {name}.retain_grad()를 호출했으므로 {name}.grad는 None입니다.",
    "why_reset_at": "{call:이} {value:을} 저장한 뒤⟦ {line}행에서⟧ 비워졌으므로 {name}.grad는 None입니다.",
    "why_asked_late": "{asked}에서 변화도를 요구하게 되기 전에 {made:이} {name:을} 사용했으므로 {name}.grad는 None입니다.",
    "why_no_flag_off": "{asked}에서 꺼서 {name:이} 변화도를 요구하지 않으므로 {name}.grad는 None입니다.",
    "why_no_call": "{name}.grad는 None입니다. 지켜본 마지막 셀에서 실행된 backward()가 없습니다.",
    "why_failed_early": "{name}.grad는 None입니다. 지켜본 마지막 셀은 backward()가 실행되기 전에 {place}에서 실패했습니다.",
    "why_failed": "변화도가 {name}에 이르기 전에 {call:이} 실패했으므로 {name}.grad는 None입니다.",
    "why_grad_call": "{call:은} 변화도를 돌려줄 뿐 .grad에 저장하지 않으므로 {name}.grad는 None입니다.",
    "why_inputs": "{name:은} {call}의 inputs=에 들어 있지 않으므로 {name}.grad는 None입니다.",
    "why_none_sent": "{call}에서 {node:이} 변화도 대신 None을 보냈으므로 {name}.grad는 None입니다.",
    "why_none_arrived": "{call}에서 {name}에 온 것이 변화도가 아니라 None이므로 {name}.grad는 None입니다.",
    "why_cut": "{cut:이} {name}에서 {root:으로} 가는 경로를 끊어 거기서 시작한 {call}의 변화도가 오지 않으므로 {name}.grad는 None입니다.",
    "why_new_leaf": "{cut:이} {name}에서 {root:으로} 가는 경로를 끊고⟦ {made}에서⟧ {leaf:이} 새 잎이 되어 {call}의 변화도가 거기서 끝나므로 {name}.grad는 None입니다.",
    "why_no_path": "{call:이} 시작한 {root}의 계산에 {name:이} 쓰이지 않았으므로 {name}.grad는 None입니다.",
    "why_not_in_graph": "{name:은} {call:이} 지나간 그래프에 없으므로 {name}.grad는 None입니다.",
    "why_in_graph": "{name:은} 다음의 그래프에 있지만 아직 변화도가 오지 않았거나 비워졌으므로 {name}.grad는 None입니다: {roots}.",
    "why_in_no_graph": "{name}.grad는 None이고, {name:이} 들어 있는 그래프를 가진 다른 변수가 여기에 없으므로 그런 변수의 backward()는 {name}에 이를 수 없습니다.",
    "why_unknown": "{name}.grad는 None이지만 그 이유가 확실하지 않습니다.",
}
