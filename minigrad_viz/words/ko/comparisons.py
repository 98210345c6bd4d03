"""Words in Korean: two runs side by side."""

from __future__ import annotations

WORDS = {
    "compare_title": "나란히 놓은 두 실행",
    "compare_run": "{run}: {name}",
    "compare_this_cell": "이 셀",
    "compare_first": "처음으로 다른 곳: {a}; {b}",
    "compare_same": "두 실행이 같아요. {n}단계의 연산, 값, 변화도가 모두 같아요.",
    "compare_in": "{run}: {what}",
    "compare_in_line": "{run} {line}행: {what}",
    "compare_line": "{line}행: {what}",
    "compare_dtypes": "A는 {a}, B는 {b:로} 계산해요. 반올림만큼만 다른 수는 같은 것으로 봐요.",
    "compare_rounds": "처음의 backward 호출은 세기만 했어요. 결과는 {n}번째 호출에서 처음 달라져요. A: {a}, B: {b}.",
    # what a run did
    "compare_end": "실행이 끝났어요",
    "compare_failed": "셀이 오류로 멈춰요: {error}",
    "compare_is": "{name} = {value}",
    "compare_becomes": "{name} → {value}",
    "compare_runs": "`{source}` 실행",
    "compare_computes": "`{source}` = {value}",
    "compare_runs_op": "`{source}` 실행(연산 {op})",
    "compare_runs_node": "{name}의 {node} 실행",
    "compare_uses": "`{source}`의 입력: {names}",
    "compare_node": "{name}의 노드: {node}",
    "compare_no_node": "{name}에는 노드가 없고 requires_grad=False예요",
    "compare_leaf": "{name:은} requires_grad=True인 잎 텐서예요",
    "compare_receives": "{name}의 {node:이} 받은 변화도: {value}",
    "compare_passes": "{name}의 {node:이} 넘긴 변화도: {value}",
    "compare_hooked": "hook이 바꾼 {name}의 변화도: {value}",
    "compare_added": "{name}.grad → {value}",
    "compare_set": "{name}.grad에 대입: {value}",
    "compare_returned": "{name}의 변화도 = {value}",
    "compare_stepped": "{kind:이} {settings:로} 한 단계 갱신해요",
    "compare_unnamed": "이름 없는 텐서",
    # what was not the same in the end
    "compare_ends": "마지막에 다른 값",
    "compare_tensor": "텐서",
    "compare_left_out": "생략한 텐서: {n}개.",
    "compare_no_picture": "두 실행에는 그릴 그래프가 없어요.",
    # of --vs and compare()
    "option_vs": "이 실행을 NAME으로 보관해요. 나중에 셀을 고쳐 같은 NAME으로 실행하면 두 실행을 비교해요",
    "compare_kept": "{name:로} 보관했어요. 셀을 고쳐 --vs {name:로} 다시 실행하면 두 실행을 비교해요.",
    "compare_unknown": "{name:로} 보관한 실행이 없어요. 있는 이름: {names}",
    "compare_no_run": "compare()에는 이름, Trace, last()나 record()가 돌려준 것을 줘야 하는데 {kind:이} 왔어요",
}
