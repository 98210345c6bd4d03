"""Words in Korean: live values and the training that goes on."""

from __future__ import annotations

WORDS = {
    "live_no_program": "이 셀에는 다시 계산할 수 있는 기록이 없습니다.",
    "live_no_argument": "연산에 보관하지 않는 종류의 인자가 있습니다: {kind}",
    "live_no_history": "기록이 있는 텐서가 다른 셀이나 기록되지 않는 코드에서 왔습니다",
    "live_no_room": "텐서가 너무 큽니다",
    "live_no_end": "연산이 {most}개보다 많습니다",
    "live_no_exit": "{line}번째 줄이 텐서에서 수를 꺼냅니다. 파이썬이 그 수로 무엇을 하는지는 기록되지 않습니다",
    "live_no_error": "오류로 끝났습니다",
    "live_no_fault": "연산을 적어 둘 수 없었습니다 ({problem})",
    "live_no_function": "{name:은} 직접 쓴 Function이고, 사용자의 코드는 다시 실행하지 않습니다",
    "live_no_op": "{name:은} 다시 계산할 수 없습니다",
    "live_no_mode": "{mode} 모드를 씁니다",
    "live_no_hook": "훅이 있고, 사용자의 코드는 다시 실행하지 않습니다",
    "live_no_two": "두 라이브러리로 계산합니다",
    "live_no_optimizer": "옵티마이저가 매개변수를 바꿉니다",
    "live_no_same": "연산을 다시 계산하면 같은 수가 나오지 않습니다 ({problem})",
    "live_no_leaf": "변수가 가리키는, 부동소수점 수로 된 작은 잎(leaf)이 없습니다",
    "live_no_handle": "이 셀에는 {name:이라는} 이름으로 바꿀 수 있는 수가 없습니다. 있는 것: {names}",
    "live_no_several": "{name}의 원소는 한 번에 하나만 바꿀 수 있습니다.",
    "live_turned": "셀이 다른 길로 갑니다. {line}번째 줄에서 묻는 값이 {before}였는데 {after:이} 됩니다.",
    "live_failed": "이 수로는 셀이 실패합니다: {problem}",
}
