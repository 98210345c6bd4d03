"""Words in Korean: leaves that were lost, gradients that are None, nan, and models that do not learn."""

from __future__ import annotations

WORDS = {
    # a variable that was a leaf
    "rebound_why": "`{source}` ({line}행) 때문에 {name:은} 연산의 결과가 되었습니다. 잎은 사라졌고 backward()는 잎의 .grad만 채우므로 {name}.grad는 None입니다.",
    "rebound_cut_why": "`{source}` ({line}행)은 그래프 없이 새 텐서를 계산했습니다. 잎 {name:이} 사라졌으므로 {root}에도 그래프가 없습니다.",
    "rebound_fix": "잎을 그대로 두고 제자리에서 갱신합니다: `{update}`.",
    "rebound_fix_reset": "잎을 그대로 두고 제자리에서 갱신합니다: `{update}`. 그다음 변화도를 초기화합니다. 그러지 않으면 다음 backward()가 거기에 더합니다: `{reset}`.",
    "rebound_fix_name": "결과에 다른 이름을 주어 {name:이} 잎으로 남게 합니다. 그러면 {name}.grad에 변화도가 저장됩니다.",
    "assigned_parameter_why": "{name:은} 모듈의 매개변수이므로 계산된 텐서를 그 자리에 넣을 수 없습니다. 그러면 optimizer와 모듈이 잎을 잃게 됩니다.",
    "assigned_parameter_fix": "새 값을 매개변수에 복사합니다: `with torch.no_grad(): {name}.copy_(…)`. 또는 새 잎을 대입합니다: torch.nn.Parameter(…).",
    # a gradient that is None where a tensor is expected
    "none_grad_why": "{name}.grad가 None이므로 계산에 쓸 수 없습니다.",
    "none_grad_early": "아직 backward()가 실행되지 않았으므로 여기서 {name}.grad는 None입니다.",
    "none_grad_early_fix": "이 줄 전에 backward()를 호출하거나 먼저 확인합니다: `if {name}.grad is not None:`.",
    "none_grad_flag_fix": "{name:을} 계산에 쓰기 전에 requires_grad=True로 만듭니다.",
    "none_grad_reset_fix": "{name}.grad를 먼저 쓰고 그 뒤에 초기화합니다.",
    "none_grad_call_fix": "{name}.grad 대신 grad()가 돌려주는 변화도를 씁니다.",
    "none_grad_skip_fix": "루트를 {name:으로} 계산하거나 여기서 {name:을} 건너뜁니다: `if {name}.grad is not None:`.",
    "none_grad_cut_fix": "{name}에서 루트로 가는 경로를 끊는 것을 없앱니다.",
    # nan and inf
    "first_nan_forward": "{what:은} {place}에서 처음 나타났습니다: {inputs}일 때 결과가 {what}입니다.",
    "first_nan_forward_alone": "{what:은} {place}에서 처음 나타났습니다.",
    "first_nan_backward": "{what:은} 역전파에서 처음 나타났습니다. {node:이} {took:을} 받아 {what:을} 보냈습니다. 그때 {made}의 값: {inputs}.",
    "first_nan_data": "{data}에는 처음부터 nan이 있습니다. 거기에서 {name}까지 이어졌습니다.",
    "first_nan_data_fix": "그런 값을 먼저 빼거나 바꿉니다. 예: torch.nan_to_num({data}).",
    "first_nan_root": "거기에서 {name}까지 이어졌습니다.",
    "first_nan_grad": "거기에서 {name}.grad까지 이어졌습니다.",
    "first_nan_diverges": "갱신이 발산합니다. {line}의 갱신 {updates}번 동안 {name}의 가장 큰 수가 {first}에서 {last:으로} 커졌습니다.",
    "first_nan_unkept": "{name:은} 처음 {count}번의 backward 호출 가운데 하나부터 {what}입니다. 그 호출들의 단계는 남아 있지 않습니다.",
    "first_nan_unkept_fix": "처음 몇 번만 반복해서 어디에서 시작되는지 봅니다. 거기에서 손실이 커지면 학습률을 줄입니다.",
    "first_nan_fix_log": "인수를 0보다 크게 유지합니다: `{code}`.",
    "first_nan_fix_root": "0에서 도함수가 무한대입니다. 인수를 0보다 크게 유지합니다: `{code}`.",
    "first_nan_fix_quotient": "나누는 수가 0이 되지 않게 합니다: `{code}`.",
    "first_nan_fix_exp": "softmax처럼 가장 큰 수를 먼저 뺍니다: `{code}`. 또는 torch.softmax, torch.log_softmax, torch.logsumexp를 씁니다.",
    "first_nan_fix_argument": "연산과 그 도함수가 유한한 범위의 수만 들어가게 합니다.",
    "first_nan_fix_step": "학습률을 줄입니다.",
    "first_nan_fix_rate": "학습률을 {rate}보다 작게 합니다.",
    "first_nan_fix_better": "학습률을 {rate}보다 작게 합니다. 이 셀의 변화도로 보면 {better:이} 알맞습니다.",
}
