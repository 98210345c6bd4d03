"""The catalogue in Korean, in the words of the Korean PyTorch community (변화도, 연쇄법칙, 잎, 뿌리 …)."""

from __future__ import annotations

WORDS: dict[str, str] = {
    # rows of a station and of the state table; names of attributes stay as they are typed
    "row_role": "역할",
    "row_value": "값",
    "row_grad": "grad",
    "row_tangent": "접선",
    "detail": "{label}: {value}",
    "not_kept": "({value} 저장 안 함)",
    "grad_many": "{total} = {n}개의 합",
    "unknown": "기록되지 않음",
    "unnamed": "결과 {n}",
    # roles
    "role_leaf": "잎(leaf)",
    "role_root": "뿌리(root)",
    "role_constant": "상수",
    "role_parameter": "매개변수",
    "role_result": "결과",
    # chips, arrows and marks
    "chip_freed": "{name} 해제됨",
    "chip_version": "{name} {value} v{version}",
    "chip_packed": "{name} → {kept}",
    "kept_recomputed": "다시 계산",
    "chips_more": "+{n}",
    "pill_count": "×{n}",
    "pill_many": "변화도 {n}개",
    "hooks": "hook {n}",
    "fold": "⋯ 연산 {n}개",
    "fold_nodes": "역전파 노드 {n}개",
    "tip_hook": "{i}. {hook}: {saw}",
    "legend_hook": "실행된 hook",
    "tip_fold": "연달아 이어진 연산 {n}개를 나타냅니다. 값과 변화도는 마지막 연산의 것입니다",
    "outline_input_many": "← {name}: 변화도 {n}개",
    "outline_input_many_waiting": "← {name}, {n}번",
    "legend_fold": "접어 놓은 긴 연산 사슬",
    "tip_saved": "역전파를 위해 저장됨: {name} = {value}",
    "tip_saved_version": "역전파를 위해 저장됨: {name} = {value} (버전 {version})",
    "tip_freed": "역전파를 위해 저장되었다가 역전파가 해제함: {name} = {value}",
    "tip_freed_unseen": "역전파를 위해 저장되었다가 역전파가 해제함: {name}",
    "tip_packed": "역전파를 위해 저장됨: {name} = {value}, hook이 바꾼 것: {kept}",
    "tip_packed_unseen": "역전파를 위해 저장됨: {name}, hook이 바꾼 것: {kept}",
    "tip_asked": "이 텐서의 변화도를 요청함",
    "tip_forward": "{target}의 계산에 {source}을(를) 사용",
    "tip_gradient": "{target}에서 {source}(으)로 흐른 변화도: {value}",
    "tip_gradient_none": "{target}에서 {source}(으)로 흐른 변화도: 없음",
    "tip_gradient_unseen": "{target}에서 {source}(으)로 흐른 변화도: 기록하지 않음",
    "tip_none": "입력 {i}: 변화도가 필요 없으므로 간선이 없음",
    "tip_nones": "입력 {n}개: 변화도가 필요 없으므로 간선이 없음",
    "tip_reference": "{name}와(과) 같은 텐서: {n}번 사용되므로 사용하는 곳마다 작은 표지를 둠",
    # what is marked, cut, in fog, shared or told in bytes
    "legend_guilty": "실패한 곳",
    "legend_cause": "원인이 된 곳",
    "legend_stale": "저장한 뒤에 값이 바뀌어 쓸 수 없음",
    "legend_cut": "변화도의 경로가 끝나는 곳",
    "legend_fog": "기록하지 않고 계산함",
    "legend_ghost": "만들어졌을 노드",
    "legend_lost": "변화도가 지나갔을 길",
    "legend_memory": "같은 글자, 같은 메모리",
    "legend_removed": "제거된 hook",
    "picture_marked": "{picture} 표시한 곳: {labels}.",
    "outline_guilty": "!! {label}",
    "outline_cause": "! {label}",
    "outline_used": "{name} 사용   {mark}",
    "outline_cut": "✂ {name}: {cut}",
    "outline_ghost": "({node}) {fog}",
    "chip_marked": "{name} {label}",
    "chip_stale": "{name} {value} v{version}→{now}",
    "chip_stale_unseen": "{name} v{version}→{now}",
    "chip_bytes": "{chip}, {n} B",
    "outline_stale": "{name} {value} (버전 {version}에서 저장, 지금은 {now}: 더 이상 쓸 수 없음)",
    "outline_stale_unseen": "{name} (버전 {version}에서 저장, 지금은 {now}: 더 이상 쓸 수 없음)",
    "outline_bytes": "{saved} {n} B",
    "tip_stale": (
        "역전파를 위해 저장됨: {name} = {value} (버전 {version}에서 저장, 지금은 {now}: 더 이상 쓸 수 없음)"
    ),
    "tip_bytes": "{saved}, {n}바이트",
    "tip_code": "{name}:",
    "tip_code_line": "{name}, {line}행:",
    "tip_code_more": "… {n}줄 더",
    "tip_hook_removed": "{i}. {hook}: 제거되어 실행되지 않음",
    "cut_detach": "detach()는 같은 값을 돌아가는 경로 없이 돌려줍니다",
    "cut_data": ".data는 같은 값을 돌아가는 경로 없이 돌려줍니다",
    "cut_no_grad": "no_grad() 안에서는 기록하지 않으므로 돌아가는 경로가 없습니다",
    "cut_inference": "inference 모드에서는 기록하지 않으므로 돌아가는 경로가 없습니다",
    "cut_numpy": "NumPy 배열은 변화도를 모르므로 돌아가는 경로가 없습니다",
    "cut_item": "파이썬의 수는 변화도를 모르므로 돌아가는 경로가 없습니다",
    "cut_tensor": "값만으로 새 텐서를 만들었으므로 돌아가는 경로가 없습니다",
    "cut_integer": "결과가 실수가 아니므로 돌아가는 경로가 없습니다",
    "fog_no_grad": "no_grad: 기록 안 함",
    "fog_inference": "inference 모드: 기록 안 함",
    "ghost_node": "({node})",
    "memory_of": "{name}의 메모리",
    "memory_of_version": "{name}의 메모리, v{version}",
    "shared_memory": "공유 메모리",
    "shared_memory_version": "공유 메모리, v{version}",
    "outline_memory": "[{sign}] {memory}",
    "tip_ghost": "이 모드가 아니었다면 {node}가 여기에 놓입니다",
    # the picture as a whole
    "picture_title": "{names}의 연산 그래프",
    "picture_title_plain": "연산 그래프",
    "picture_desc": "텐서: {tensors}개. 역전파 노드: {nodes}개. 뿌리: {roots}. 잎: {leaves}.",
    "picture_desc_plain": "텐서: {tensors}개. 역전파 그래프는 없습니다.",
    "nobody": "없음",
    "scene": "역전파 {n}번 중 {i}번째: {source}",
    "scene_unseen": "역전파 {n}번 중 {i}번째",
    "scene_none": "셀 전체",
    "frame_2": "create_graph=True로 만들어진 변화도의 그래프",
    "frame_2_short": "변화도의 그래프",
    "frame_n": "create_graph=True로 만들어진 {n}차 미분의 그래프",
    "frame_n_short": "{n}차 미분의 그래프",
    "legend_leaf": "잎(leaf)",
    "legend_parameter": "매개변수(잎의 하나)",
    "legend_root": "뿌리(root): 역전파의 시작점",
    "legend_constant": "변화도를 요구하지 않음",
    "legend_node": "역전파 노드",
    "legend_saved": "역전파를 위해 저장한 값",
    "legend_freed": "해제된 값",
    "legend_packed": "hook이 바꾸어 저장한 값",
    "legend_again": "저장하지 않고 다시 계산하는 값",
    "legend_forward": "순전파",
    "legend_gradient": "흐른 변화도",
    "legend_todo": "흐르지 않은 변화도",
    "legend_unseen": "기록하지 않은 변화도",
    "legend_none": "변화도가 필요 없는 입력",
    "legend_not_kept": "계산했지만 .grad에 저장하지 않음",
    "legend_asked": "변화도를 요청한 곳",
    "legend_skipped": "요청하지 않아 건너뛴 노드",
    # the outline
    "outline_kept": "grad {value}",
    "outline_not_kept": "grad ({value}, 저장 안 함)",
    "outline_no_grad": "grad None",
    "outline_freed": "{name} {value} (해제됨)",
    "outline_freed_unseen": "{name} (해제됨)",
    "outline_saved": "{name} {value}",
    "outline_version": "{name} {value} (버전 {version})",
    "outline_packed": "{name} {value} → {kept}",
    "outline_packed_unseen": "{name} → {kept}",
    "outline_packed_freed": "{name} → {kept} (해제됨)",
    "outline_tangent": "접선 {value}",
    "outline_asked": "요청함",
    "outline_skipped": "(요청하지 않아 건너뜀)",
    "outline_input": "← {name}: {value}",
    "outline_input_waiting": "← {name}",
    "outline_input_none": "← {name}: ∅ 변화도가 필요 없음",
    "outline_none": "← ∅ 변화도가 필요 없음",
    "outline_inputs_left_out": "… 생략한 입력: {n}개",
    "outline_left_out": "… 생략한 항목: {n}개",
    "outline_empty": "텐서 없음",
    "outline_first": "순전파의 그래프",
    # why a cell has no graph, and what a graph leaves out
    "no_graph": "변화도를 요구하는(requires_grad=True) 텐서가 없으므로 역전파할 그래프가 없습니다.",
    "no_graph_no_grad": "no_grad() 안에서 계산됨: {names}. 역전파를 위해 기록된 것이 없습니다.",
    "no_graph_inference": "inference_mode() 안에서 계산됨: {names}. 이런 텐서는 그래프에 들어가지 않습니다.",
    "no_graph_forward": "순방향 미분: 접선이 값과 함께 계산되므로 그래프가 없습니다.",
    "no_graph_detached": "{names}에서 detach()가 경로를 끊었으므로 그 뒤에는 그래프가 없습니다.",
    "no_graph_left": "{names}: 수만 가져왔으므로 경로가 끊어져 그래프가 없습니다.",
    "no_graph_integer": "실수와 복소수 텐서만 변화도를 요구할 수 있습니다. {names}의 dtype은 {dtype}입니다.",
    "no_graph_checked": "gradcheck가 미분을 비교하려고 계산하는 것은 그리지 않습니다.",
    "no_graph_unused": "변화도를 요구하지만 {names}을(를) 사용한 연산이 없어서 그래프가 없습니다.",
    "no_graph_leaf": "{names}을(를) 만든 연산이 없으므로 거기서 거슬러 올라가는 그래프가 없습니다.",
    "note_anomaly": "anomaly 모드: 모든 변화도에 NaN이 있는지 검사합니다.",
    "no_tensors": "이 셀은 텐서를 만들지 않았습니다.",
    "omitted": "그래프가 한도보다 커서 생략한 항목: {n}개.",
    "too_large": "그래프의 항목이 {n}개입니다. {limit}개까지만 그리므로 대신 개요를 보입니다.",
    "layout_timeout": "Graphviz가 {seconds}초 안에 끝내지 못했습니다. 대신 개요를 보입니다.",
    "layout_failed": "Graphviz가 이 그래프를 배치하지 못했습니다: {reason} 대신 개요를 보입니다.",
    "layout_unavailable": "여기에서는 Graphviz를 쓸 수 없습니다: {reason} 대신 개요를 보입니다.",
    # the state table
    "table_caption": "텐서의 상태",
    "table_tensor": "텐서",
    "table_attribute": "속성",
    "table_end": "끝에서",
    "table_before": "backward 전",
    "table_after": "backward 후",
    "table_before_n": "{n}번째 backward 전",
    "table_after_n": "{n}번째 backward 후",
    "table_before_grad": "{n}번째 grad 전",
    "table_after_grad": "{n}번째 grad 후",
    "table_absent": "아직 없음",
    "table_moments_left_out": "생략한 시점: {n}개.",
    "table_tensors_left_out": "가운데에서 생략한 텐서: {n}개.",
    # the ledger of .grad
    "step_grad_zero": "{names}: 0으로 만듦",
    "step_grad_none": "{names}: None으로 만듦",
    "step_grad_assigned": "{names}: 다른 텐서를 넣음, {value}",
    "step_grad_written": "{names}: 제자리에서 {value}(으)로 바꿈",
    "ledger_title": ".grad의 장부",
    "ledger_tensor": "대상",
    "ledger_what": "일어난 일",
    "ledger_sources": "보낸 노드",
    "ledger_where": "위치",
    "ledger_grad": "그 뒤의 .grad",
    "ledger_before": "셀 전부터 있음",
    "ledger_stores": "{n}번째 backward가 {value}을(를) 저장함",
    "ledger_adds": "{n}번째 backward가 {value}을(를) 더함",
    "ledger_again": "{n}번째 backward가 {value}을(를) 더함. 그 사이 초기화되지 않음",
    "ledger_hook": "잎의 hook이 바꿈",
    "ledger_zero": "0으로 만듦",
    "ledger_none": "None으로 만듦",
    "ledger_assigned": "다른 텐서를 넣음",
    "ledger_written": "제자리에서 바꿈",
    "ledger_skipped": "이전에 더해진 횟수: {n}번",
    "ledger_unseen": "기록되지 않은 것이 바꿈",
    "ledger_line": "{line}행: {source}",
    "ledger_sum": "{before} + {amount} = {total}",
    "ledger_times": "{node} {n}개",
    "ledger_left_out": "… 생략한 항목: {n}개",
    "ledger_tensors_left_out": "생략한 텐서: {n}개.",
    "ledger_note": "backward()는 .grad에 더합니다. 누적할 것이 아니면 다음 호출 전에 초기화합니다: "
    "x.grad = None 또는 x.grad.zero_().",
    # memory of the graph
    "held_title": "그래프가 쓰는 메모리",
    "held_node": "노드",
    "held_at": "위치",
    "held_saved": "저장한 값",
    "held_version": "버전",
    "held_bytes": "바이트",
    "held_value": "{name} = {value}",
    "held_nothing": "없음",
    "held_leaf": "0 (잎 자체의 {n})",
    "held_shared": "0 (위에서 셈)",
    "held_unknown": "알 수 없음",
    "held_freed": "0, 해제됨",
    "held_sum": "합계",
    "held_none": "그래프가 없습니다: 0바이트.",
    "held_left_out": "가운데에서 생략한 줄: {n}개.",
    "held_now": "역전파를 위해 가지고 있는 메모리: {n}바이트.",
    "held_moment": "{n}번째 backward: 전에는 {before}바이트, 후에는 {after}바이트.",
    "held_kept": "{n}번째 backward: 전에는 {before}바이트, 후에도 {after}바이트. 해제된 것이 없습니다.",
    "held_leaves": "저장한 잎: {n}바이트. 잎은 어차피 있으므로 메모리가 더 들지 않습니다.",
    "held_rest": "backward가 닿지 않은 그래프: {n}바이트.",
    "held_no_grad": "no_grad() 안에서 {names}: 0바이트.",
    "held_no_grad_would": "no_grad() 안에서 {names}: 0바이트. 기록했다면 {n}바이트입니다.",
    "held_inference": "inference_mode() 안에서 {names}: 0바이트.",
    "held_inference_would": "inference_mode() 안에서 {names}: 0바이트. 기록했다면 {n}바이트입니다.",
    # the player
    "forward_step": "순전파 {n}단계 중 {i}단계",
    "backward_step": "역전파 {n}단계 중 {i}단계",
    "player": "재생기",
    "forward": "순전파",
    "backward": "역전파",
    "previous": "이전",
    "next": "다음",
    "first": "처음",
    "last": "마지막",
    "play": "재생",
    "pause": "멈춤",
    "source": "소스",
    "slider": "단계",
    "speed": "속도",
    "acts": "backward 호출",
    "acts_counted": "그 전의 {n}번은 횟수만 셈",
    "queue": "대기열",
    "queue_ready": "실행할 수 있음",
    "queue_none": "없음",
    "zoom_in": "크게",
    "zoom_out": "작게",
    "zoom_fit": "전체 보기",
    "picture": "그림",
    "details": "자세히",
    "details_in": "들어온 변화도",
    "details_out": "나간 변화도",
    "details_steps": "단계",
    "details_formula": "계산",
    "close": "닫기",
    "step_start": "전체 그림. 다음 단계부터 첫 연산이 시작됩니다",
    "steps_none": "텐서를 쓰지 않았으므로 단계가 없습니다.",
    "step_made": "{name} = {value}",
    "step_given": "{made}",
    "step_unseen": "{expr}: 라이브러리 안에서 계산되어 값이 기록되지 않음",
    "step_leaf": "{made}: 변화도를 요구하는 잎",
    "step_parameter": "{made}: 매개변수, 곧 변화도를 요구하는 잎",
    "step_constant": "{made}: 상수",
    "step_seed": "{made}: 역전파가 시작되는 변화도",
    "step_forward": "{expr}의 계산: {made}",
    "step_forward_off": "{expr}의 계산: {made}. 변화도 기록이 꺼져 있어 노드가 생기지 않음",
    "step_forward_inference": "{expr}의 계산: {made}. inference 모드이므로 아무것도 기록하지 않음",
    "step_forward_none": "{expr}의 계산: {made}. 변화도를 요구하는 입력이 없어 노드가 생기지 않음",
    "step_requires_grad": "{expr}: 이제부터 {name}은(는) 변화도를 요구하는 잎",
    "step_retain_grad": "{expr}: {name}의 변화도가 {name}.grad에 저장될 것임",
    "step_register_hook": "{expr}: {name}의 변화도를 hook이 보게 됨",
    "step_register_late": "{expr}: {name}.grad가 채워진 뒤에 hook이 실행됨",
    "step_register_prehook": "{expr}: {name}의 노드에 들어오는 변화도를 hook이 보게 됨",
    "step_register_posthook": "{expr}: {name}의 노드가 보내는 변화도를 hook이 보게 됨",
    "step_hook_removed": "{expr}: {name}의 hook이 없어짐",
    "step_inside": "{node}의 계산 {expr}: {made}",
    # cuts, fog and shared memory, in steps
    "step_detached": "{expr}의 결과: {made}. {source}와(과) 같은 메모리이지만 그래프에서 끊어짐",
    "step_detached_in_place": "{expr}: {source}을(를) 그래프에서 떼어 냄. 이제부터 변화도가 없는 잎",
    "step_data": "{expr}의 결과: {made}. {source}와(과) 같은 메모리이지만 그래프에서 끊어지고, "
    "여기에 쓴 것은 {source}의 버전에 세지 않음",
    "step_shared": "{expr}의 결과: {made}. {source}와(과) 같은 메모리",
    "step_left": "{expr}의 결과: {made}. {source}의 수로 만들었지만 되돌아가는 경로가 없음",
    "step_left_shared": "{expr}의 결과: {made}. {source}와(과) 같은 메모리이지만 되돌아가는 경로가 없음",
    "step_forward_off_ghost": (
        "{expr}의 계산: {made}. 변화도 기록이 꺼져 있어 노드가 생기지 않음. 켜져 있었다면 {ghost}"
    ),
    "step_forward_inference_ghost": (
        "{expr}의 계산: {made}. inference 모드이므로 아무것도 기록하지 않음. 아니었다면 {ghost}"
    ),
    "step_forward_integer": (
        "{expr}의 계산: {made}. {dtype}에는 변화도가 없으므로 {names}의 경로가 여기서 끝남"
    ),
    "step_forward_clone": "{expr}의 계산: {made}. 자기 메모리가 있고 {source}(으)로 되돌아가는 경로가 있음",
    "step_requires_grad_off": "{expr}: 이제부터 {name}은(는) 변화도를 요구하지 않음",
    "step_requires_grad_cut": (
        "{expr}: 이제부터 {name}은(는) 변화도를 요구하는 잎. {source}(으)로는 더 흐르지 않음"
    ),
    "also_label": "같은 메모리",
    "also": "함께 바뀜: {made}",
    # in place
    "step_in_place": "{expr}이(가) {name}을(를) 제자리에서 {value}(으)로 바꿈: 버전 {old} → {new}",
    "step_in_place_new": "{expr}이(가) {name}을(를) 제자리에서 바꿈: {made}, 버전 {old} → {new}",
    "step_in_place_dirty": "{expr}이(가) {name}을(를) 제자리에서 바꿈: {made}",
    "step_in_place_view": "{made}: 메모리를 함께 쓰는 텐서를 통해 바뀜, 버전 {old} → {new}",
    "step_backward": "{name}의 {node}: {value}을(를) 받아 {sent}을(를) 보냄",
    "step_backward_end": "{name}의 {node}: {value}을(를) 받고 아무것도 보내지 않음",
    "step_backward_none": "{name}의 {node}: 변화도가 None이므로 건너뛰고 None을 보냄",
    "step_backward_zeros": "{name}의 {node}: 변화도가 없어 backward가 0으로 실행되어 {sent}을(를) 보냄",
    "step_sent": "{name}에 {value}",
    "step_ready": "{name}의 {node}: 들어오는 화살표가 모두 도착하면 실행됨",
    "step_deposit": "AccumulateGrad가 {name}.grad에 {value}을(를) 더함",
    "step_deposit_first": "AccumulateGrad가 {name}.grad에 {value}을(를) 저장함",
    "step_deposit_none": "AccumulateGrad가 받은 변화도는 None: {name}.grad는 그대로임",
    "step_hooked": "요청한 변화도가 {name}에 도착함",
    "step_captured": "autograd.grad의 결과: {gradients}",
    "step_captured_one": "{name}에 대해 {value}",
    "step_fold": "잇따른 연산 {n}개: 처음 {first}, 마지막 {last}",
    "step_fold_backward": "잇따른 노드 {n}개: {value}이(가) 들어가 {sent}이(가) 나옴",
    "step_summary": "… 하나씩 보이지 않는 단계 {n}개",
    "step_recomputed": "{name}의 {node}: 저장하지 않은 값이 필요하여 다시 계산한 연산: {n}개",
    "step_recomputed_unseen": "checkpoint가 저장하지 않은 값을 다시 계산함: 연산 {n}개",
    "step_gradcheck": "{expr}: 도함수를 차분과 비교함. 그 안의 연산은 보이지 않음",
    "version_label": "버전",
    "version": "{n}, 제자리에서 바뀌었기 때문",
    "keeps_label": "저장",
    "keeps": "{node}이(가) 저장함: {saved}",
    "packs_label": "pack",
    "packs": "{name} = {value} → {kept}",
    "unpacks_label": "unpack",
    "unpacks": "{kept} → {name} = {value}",
    "again_label": "다시",
    "again": "{expr} = {value}",
    "mode_on": "켜짐",
    "mode_off": "꺼짐",
    "mode_grad": "grad 모드",
    "mode_inference": "inference 모드",
    "mode_anomaly": "anomaly 모드",
    "mode_saved_tensors_hooks": "저장 텐서 hook",
    "mode_forward_ad": "순방향 미분 모드",
    "start_label": "시작",
    "start_one": "{name}의 자신에 대한 변화도는 {value}",
    "start_given": "{name}의 변화도가 주어짐: {value}",
    "start_many": "{name}: 변화도 여럿을 한꺼번에. 모양은 하나의 것",
    "asked_label": "요청",
    "asked": "{names}의 변화도만",
    "so_far_label": "{name}에 지금까지",
    "so_far": "{value}, 아직 오지 않은 화살표 {n}개",
    "frees_label": "해제",
    "frees": "{names}",
    "inside_label": "실행 중",
    "inside": "{expr}",
    "stopped_label": "여기서 멈춤",
    "stopped": "{name}의 {node}",
    "made_at_label": "만든 식",
    "made_at": "{expr}",
    "reached_label": "도달",
    "reached": "노드 {n}개 가운데 {done}개 실행됨",
    "hook_tensor": "hook {name}",
    "hook_pre": "pre-hook {name}",
    "hook_post": "post-hook {name}",
    "hook_post_accumulate": "저장 후 hook {name}",
    "hook_multi": "multi-grad hook {name}",
    "hook_saw": "{before}, 그대로 둠",
    "hook_none": "None을 반환: {before} 그대로 전달",
    "hook_same": "{before}을(를) 그대로 반환",
    "hook_wrote": "직접 고쳐 쓰고 None을 반환: {before} → {after}",
    "hook_label": "{i}. {hook}",
    "hook_made": "{before} → {after}",
    "through": "{left} ({name} 경유)",
    "share": "{value} ({name} 경유)",
    "chain_rule": "연쇄법칙",
    "sum_at": "{name}에서의 합",
    # lines of arithmetic
    "vjp": "vjp",
    "vjp_of": "vjp ({bar}: {name}의 변화도)",
    "broadcast": "브로드캐스트",
    "broadcast_products": (
        "{input}의 shape는 {small}, {output}의 shape는 {large}: 곱 {n}개를 더해 {input}의 shape로 되돌림"
    ),
    "broadcast_values": (
        "{input}의 shape는 {small}, {output}의 shape는 {large}: 변화도 {n}개를 더해 {input}의 shape로 되돌림"
    ),
    "tangent": "접선",
    "tangent_of": "접선 ({dot}: {name}의 접선)",
    "copy_slices_label": "제자리",
    "copy_slices": "뷰가 덮은 부분은 그곳에 쓴 연산을 거치고 나머지는 그대로 {name}에 전달됨",
    "deposit": "{name}.grad에 더함",
    "paths": "경로 {n}개",
    "own": "{name}.backward",
    "hook_changed": "{name}이(가) 바꿈",
    # options, and what the magic, the command line and the kernel say
    "magic_about": "셀을 평소처럼 실행하고, 셀의 출력 아래에 텐서들의 그래프를 값, 변화도와 함께 단계별로 "
    "보여 줍니다. 그 아래의 표는 backward() 전후의 상태입니다.",
    "command_about": "프로그램을 실행하고, 텐서들의 그래프와 상태를 출력하고, 그림을 파일에 씁니다.",
    "command_file": "프로그램, 또는 .json으로 저장한 기록 (기본: 내장 예제, x ** 3과 그 로그)",
    "kernel_hint": "python -m minigrad_viz kernel --help: 모든 셀을 보여 주는 Jupyter 커널",
    "option_roots": "이 변수들의 계산에 쓰인 것만 그리기",
    "option_show": "그래프를 재생기(기본), Python으로 움직이는 위젯, 멈춘 그림으로 보이거나 보이지 않기",
    "option_detail": "항목마다 보이는 행 (기본: {default})",
    "option_values": "그림에 값과 변화도를 쓰기(기본), 또는 구조만 보이기",
    "option_saved": "backward를 위해 저장된 것을 모두 보이거나 숨기기 (기본: 자리가 있는 만큼)",
    "option_direction": "순전파의 방향: 왼쪽에서 오른쪽, 위에서 아래 … (기본: {default})",
    "option_style": "그래프를 그리는 방식과 색 (기본: {default})",
    "option_max_nodes": "항목이 N개까지인 그래프를 그리고, 더 크면 글로 알리기 (기본: {default})",
    "option_fold": "긴 사슬을 항목 하나로 접기(기본), 또는 모든 연산 보이기",
    "option_lang": "보이는 글의 언어 (기본: 시스템의 언어)",
    "option_table": "상태 표를 보이기(기본), 또는 빼기",
    "option_ledger": ".grad의 장부를 보이거나 숨기기 (기본: 변화도가 누적되거나 초기화된 때만)",
    "option_memory": "그래프가 쓰는 메모리를 보이거나 숨기기 (기본: 숨기기)",
    "option_steps": "단계들을 계산과 함께 글로도 출력하기",
    "option_output": "FILE에도 쓰기: {endings} (여러 번 쓸 수 있음)",
    "option_on": "%autograd on처럼 처음부터 모든 셀을 보이기",
    "option_one_of": "{option}의 값은 {choices} 가운데 하나여야 하는데 {value}입니다",
    "option_number": "{option}의 값은 1 이상의 정수여야 하는데 {value}입니다",
    "option_ending": "{option} {value}: 이름이 {endings} 가운데 하나로 끝나야 합니다",
    "option_needs_value": "{option} 뒤에 값이 있어야 합니다",
    "option_exclusive": "{first}, {second}: 둘을 함께 쓸 수 없습니다",
    "option_unknown": "알 수 없는 옵션이나 인자: {words}",
    "option_wrong": "{option}: {problem}",
    "magic_bad_arguments": "%%{name}: {problem}. 셀을 실행하지 않았습니다. 옵션 목록: %%{name}?",
    "magic_bad_on": "%{name} on: {problem}. 옵션 목록: %%{name}?",
    "magic_bad_line": ("%{name} 뒤에는 {words}, traceback이 오는데 {word!r}입니다. 설명: %{name}?"),
    "magic_end_failed": "%%{name}: 이 셀을 보여 줄 수 없습니다: {problem} (위치는 %{name} traceback)",
    "magic_begin_failed": "%{name} on: 이 셀을 지켜볼 수 없습니다: {problem} (위치는 %{name} traceback)",
    "magic_no_traceback": "실패한 것이 없습니다.",
    "magic_line_on": "%%로 시작하지 않는 다음 셀들을 모두 이렇게 보이기",
    "magic_line_off": "그만 보이기",
    "magic_line_cell": "이 셀을 이 줄부터 보이기",
    "magic_line_explain": "마지막 오류 설명하기 (지켜보지 않은 셀의 오류도)",
    "magic_line_traceback": "셀을 보여 주다가 마지막으로 실패한 곳 알리기",
    "file_failed": "{file}: 쓸 수 없습니다: {problem}",
    "no_last": "%%autograd로 실행한 셀이 아직 없습니다.",
    "kernel_about": "모든 셀을 %%autograd처럼 보여 주는 Jupyter 커널을 설치합니다.",
    "kernel_install": "커널 추가",
    "kernel_uninstall": "커널 삭제",
    "kernel_sys_prefix": "이 Python의 환경에 (기본)",
    "kernel_user": "지금 사용자에게",
    "kernel_prefix": "P에 있는 환경에",
    "kernel_name": "커널의 이름 (기본: {default})",
    "kernel_display_name": "Jupyter에 보이는 이름 (기본: {default})",
    "kernel_installed": "커널 {name}의 위치: {path}",
    "kernel_removed": "커널 {name}을(를) 삭제했습니다: {path}",
    "kernel_bad_name": "{name!r}은(는) 커널 이름이 될 수 없습니다. 소문자, 숫자, 그 사이의 . _ - 만 됩니다",
    "kernel_foreign": "{path}은(는) 다른 커널의 것입니다. 다른 --name을 쓰세요",
    "kernel_missing": "{path}에 커널 {name!r}이(가) 없습니다",
    "kernel_needs": "ipykernel이 필요한데 설치되어 있지 않습니다: pip install ipykernel ({problem})",
    # the definition of the derivative
    "limit_head": "x = {x}에서 f(x) = {y}, {dtype}로 계산. 몫: (f(x + h) − f(x)) / ((x + h) − x).",
    "limit_autograd": "autograd로 구한 미분(접선의 기울기): {value}",
    "limit_central": "f의 변화도를 구할 수 없어, 접선은 작은 h로 양쪽의 차를 써서 구한 것입니다: {value}",
    "limit_smallest": (
        "우연을 빼면 오차는 h = {h} 근처에서 가장 작습니다. h가 더 크면 곡선의 휘어짐을 놓치고(절단 오차), "
        "더 작으면 차에 {dtype}의 자릿수가 거의 남지 않습니다(반올림 오차)."
    ),
    "limit_exact": "속이 빈 점은 오차가 정확히 0이라는 뜻입니다.",
    "limit_lost": "{dtype}에서는 h = {h}일 때 x + h가 x와 같아서 몫이 없습니다.",
    "limit_quotient": "몫",
    "limit_error": "오차",
    "limit_tangent": "접선 → {value}",
    "limit_secant": "h = {h} → {value}",
    "limit_title": "x = {x}에서의 할선과 접선",
    "limit_about": "f의 곡선과 x를 지나는 직선들의 기울기: {slopes}.",
    "limit_error_title": "h에 따른 오차의 크기",
    "limit_error_about": "두 축 모두 로그 눈금입니다.",
    "limit_rounding": "← 반올림",
    "limit_truncation": "절단 →",
    # a gradient that was given
    "given_gradient": (
        "{root}은(는) 수 하나가 아니므로, backward에 원소마다 가중치를 하나씩 담은 벡터 v를 주면 한 번에 "
        "vᵀJ를 "
        "계산합니다. ({v} * {root}).sum().backward()와 같습니다."
    ),
    "given_arrives": "vᵀJ, {name}.grad로",
    "given_returned": "vᵀJ, {name}에 대해 반환됨",
    # numbers that were checked
    "check_agrees": "backward의 결과가 차분과 일치합니다.",
    "check_left_out": "보이지 않은 출력과 입력의 짝: {n}개.",
    "matrix_size": "({rows} × {columns}, 일부만 보임)",
    "check_title": "행: {row}의 원소. 열: 출력 {i}의 원소.",
    "check_input": "입력 {j}",
    "check_analytical": "backward의 결과 (analytical)",
    "check_numerical": "차분의 결과 (numerical)",
    "check_difference": "차이",
    "cause_at": "{line}행",
    "why_jacobian": "출력 {i}, 입력 {j}에서 backward가 구한 미분과 차분으로 구한 미분이 다릅니다.",
    "why_jacobian_second": (
        "출력 {i}, 입력 {j}에서 변화도의 backward가 구한 2차 미분과 차분으로 구한 미분이 다릅니다."
    ),
    "why_jacobian_place": (
        "∂{above}/∂{below}: backward로 구하면 {analytical}, 차분으로 구하면 {numerical} 입니다. "
        "맞지 않는 곳: {total}곳 중 {n}곳."
    ),
    "why_jacobian_place_second": (
        "∂{above}/∂{below} (out은 변화도): backward로 구하면 {analytical}, 차분으로 구하면 {numerical} "
        "입니다. "
        "맞지 않는 곳: {total}곳 중 {n}곳."
    ),
    "fix_jacobian_input": "{function}.backward가 {name}에 대해 반환하는 변화도를 살펴보세요 ({line}행).",
    "fix_jacobian": "{function}.backward가 반환하는 것을 살펴보세요 ({line}행).",
    "why_single_precision": (
        "단정밀도입니다: {names}. 자릿수가 이렇게 적은 수의 차이를 {eps}로 나누면 대부분 반올림 오차이므로, "
        "backward가 틀렸는지 알 수 없습니다."
    ),
    "fix_single_precision": "dtype=torch.float64인 입력으로 검사하세요. float32로는 부족합니다.",
    # errors of backward calls
    "unseen_here": "알 수 없는 줄",
    "source_at": "{source} ({line}행)",
    "mark_freed": "해제됨",
    "mark_freed_by": "{line}행에서 해제됨",
    "mark_changed": "제자리에서 바뀜",
    "mark_changed_by": "{line}행에서 바뀜",
    "mark_no_graph": "그래프 없음",
    "mark_shape": "shape {shape}",
    "mark_asked_later": "나중에 요구함",
    "mark_unused": "여기로 오는 경로 없음",
    "mark_nan": "nan을 보냄",
    "second_backward_why": "{node}이(가) 저장한 값을 {first}이(가) 해제했는데 {second}에 다시 필요합니다.",
    "second_backward_why_once": (
        "{name}은(는) {made}에서 한 번만 계산되었습니다. 처음 {first}이(가) {node}의 저장된 값을 해제했는데 "
        "그다음 호출에 다시 필요합니다."
    ),
    "second_backward_why_carried": (
        "{name}은(는) 앞선 반복에서 온 것이고, 그때의 {first}이(가) {node}의 저장된 값을 해제했습니다. 이번 "
        "반복의 경로가 그곳까지 거슬러 올라갑니다."
    ),
    "second_backward_why_unseen": (
        "앞선 역전파 호출이 {node}의 저장된 값을 해제했는데 {second}에 다시 필요합니다."
    ),
    "second_backward_why_some": "앞선 역전파 호출이 해제한 저장 값이 {second}에 다시 필요합니다.",
    "second_backward_why_somewhere": "{first}이(가) 해제한 저장 값이 {second}에 다시 필요합니다.",
    "second_backward_fix": "{second} 전에 {names}을(를) 다시 계산합니다. {keep}",
    "second_backward_fix_unnamed": "{second} 전에 순전파를 다시 합니다. {keep}",
    "second_backward_keep": "그래프를 정말로 다시 쓸 때만 {first}에 retain_graph=True를 줍니다.",
    "second_backward_keep_off": (
        "그래프를 정말로 다시 쓸 때만 {first}에서 retain_graph=False를 뺍니다. create_graph=True만으로 "
        "그래프가 유지됩니다."
    ),
    "second_backward_keep_instead": (
        "그래프를 정말로 다시 쓸 때만 {first}의 retain_graph=False를 retain_graph=True로 바꿉니다."
    ),
    "second_backward_fix_once": (
        "반복문에서는 {name}을(를) 매번 다시 계산합니다. retain_graph=True는 그래프를 정말로 다시 쓸 때만 "
        "줍니다."
    ),
    "second_backward_fix_each": (
        "이렇게 호출할 때마다 그 전에 {name}을(를) 다시 계산합니다. retain_graph=True는 그래프를 정말로 "
        "다시 쓸 때만 줍니다."
    ),
    "second_backward_fix_sum": "둘에서 한 번에 역전파합니다: ({a} + {b}).backward(). {keep}",
    "second_backward_fix_carried": (
        "반복을 시작할 때 옛 그래프를 끊습니다: {name} = {name}.detach(). 값은 그대로입니다."
    ),
    "second_backward_fix_anew": (
        "역전파할 때마다 순전파를 다시 합니다. 그래프를 정말로 다시 쓸 때만 처음 호출에 retain_graph=True를 "
        "줍니다."
    ),
    "freed_read_why": "{node}이(가) 저장한 값을 {first}이(가) 해제해서 {read}을(를) 더는 읽을 수 없습니다.",
    "freed_read_why_unseen": (
        "이 노드가 저장한 값을 앞선 역전파 호출이 해제해서 {read}을(를) 더는 읽을 수 없습니다."
    ),
    "freed_read_fix": "{first} 전에 {read}을(를) 읽습니다. 또는 저장된 값을 남겨 둡니다: {call}.",
    "freed_read_fix_at": (
        "{first} 전에 {read}을(를) 읽습니다. 또는 그 호출에 retain_graph=True를 주어 저장된 값을 남겨 둡니다."
    ),
    "freed_read_fix_unseen": (
        "역전파 전에 {read}을(를) 읽습니다. 또는 역전파할 때 retain_graph=True를 주어 저장된 값을 남겨 "
        "둡니다."
    ),
    "saved_modified_why": (
        "{node}이(가) {name}을(를) 버전 {then}에서 저장했습니다. 그 뒤 {writer}이(가) 값을 바꾸어 지금은 "
        "버전 {now}입니다."
    ),
    "saved_modified_why_through": (
        "{node}이(가) {name}을(를) 버전 {then}에서 저장했습니다. 그 뒤 {writer}이(가) 같은 메모리를 쓰는 "
        "{through}에 써서 {name}은(는) 지금 버전 {now}입니다."
    ),
    "saved_modified_why_unseen": (
        "{node}이(가) {name}을(를) 버전 {then}에서 저장했습니다. 그 뒤에 값이 바뀌어 지금은 버전 {now}입니다."
    ),
    "saved_modified_why_unknown": (
        "{node}이(가) 텐서를 버전 {then}에서 저장했습니다. 그 뒤에 값이 바뀌어 지금은 버전 {now}입니다."
    ),
    "saved_modified_fix": (
        "{written}을(를) 제자리에서 바꾸지 말고 새 텐서를 만듭니다. 예: {written} = {written} + 1. 또는 "
        "복사본 {written}.clone()에 씁니다."
    ),
    "saved_modified_fix_update": "먼저 {second}을(를) 실행하고 {name}은(는) 그 뒤에 바꿉니다.",
    "saved_modified_fix_unknown": (
        "제자리에서 바꾸지 말고 새 텐서를 만듭니다: y += 1이 아니라 y = y + 1. 또는 복사본에 씁니다: "
        "y.clone()."
    ),
    "no_grad_fn_why_detach": (
        "{root}에는 그래프가 없습니다. {cut}이(가) {source}의 값만 경로 없이 넘겨주었습니다."
    ),
    "no_grad_fn_why_data": (
        "{root}에는 그래프가 없습니다. {cut}이(가) {source}의 값만 경로 없이 넘겨주었습니다."
    ),
    "no_grad_fn_why_no_grad": (
        "{root}에는 그래프가 없습니다. {cut}이(가) no_grad() 안에서 실행되어 노드가 만들어지지 않았습니다."
    ),
    "no_grad_fn_why_inference": (
        "{root}에는 그래프가 없습니다. {cut}이(가) inference 모드에서 실행되어 노드가 만들어지지 않았습니다."
    ),
    "no_grad_fn_why_numpy": (
        "{root}에는 그래프가 없습니다. {cut}은(는) {source}의 값을 담은 NumPy 배열로 만들어졌고, NumPy는 "
        "그래프를 모릅니다."
    ),
    "no_grad_fn_why_item": (
        "{root}에는 그래프가 없습니다. {cut}은(는) {source}에서 꺼낸 파이썬 수로 만들어졌고, 그런 수는 "
        "그래프를 모릅니다."
    ),
    "no_grad_fn_why_tensor": (
        "{root}에는 그래프가 없습니다. {cut}이(가) {source}의 값만으로 새 텐서를 만들었습니다."
    ),
    "no_grad_fn_why_integer": (
        "{root}에는 그래프가 없습니다. {cut}의 결과는 정수나 참거짓이어서 변화도가 흐르지 않습니다."
    ),
    "no_grad_fn_why_made": "{root}은(는) {made}에서 데이터로 만들어졌고 변화도를 요구하지 않습니다.",
    "no_grad_fn_why_asks": "{root}의 계산에 쓰인 {names} 가운데 변화도를 요구하는 것이 없습니다.",
    "no_grad_fn_why_nothing": "{root}의 계산에 쓰인 것 가운데 변화도를 요구하는 것이 없습니다.",
    "no_grad_fn_why_later": (
        "{asked}에서 변화도를 요구하기 전에 {source}(으)로 {root}을(를) 계산하여 노드가 만들어지지 "
        "않았습니다."
    ),
    "no_grad_fn_fix_later": "먼저 변화도를 요구하고, 그다음 {root}을(를) 계산합니다.",
    "no_grad_fn_why_unknown": "{root}에서 거슬러 올라가는 그래프가 없습니다.",
    "no_grad_fn_why_gradient": (
        "{root}에는 그래프가 없습니다. {made}이(가) create_graph=True 없이 계산하여 그 과정에서 노드가 "
        "만들어지지 않았습니다."
    ),
    "no_grad_fn_why_gradient_constant": (
        "{made}이(가) 그래프를 만들게 했는데도 {root}에는 그래프가 없습니다. {root}의 계산에 쓰인 것 가운데 "
        "변화도를 요구하는 것이 없기 때문입니다. 선형 함수의 도함수처럼 상수입니다."
    ),
    "no_grad_fn_why_gradient_unseen": (
        "{root}에는 그래프가 없습니다. 변화도는 create_graph=True로 역전파하여 계산할 때만 그래프를 가집니다."
    ),
    "no_grad_fn_why_from_gradient": (
        "{gradient}에 그래프가 없어서 {root}에도 없습니다. {made}이(가) create_graph=True 없이 계산하여 그 "
        "과정에서 노드가 만들어지지 않았습니다."
    ),
    "no_grad_fn_why_from_gradient_constant": (
        "{made}이(가) 그래프를 만들게 했는데도 {gradient}에 그래프가 없어서 {root}에도 없습니다. "
        "{gradient}의 계산에 쓰인 것 가운데 변화도를 요구하는 것이 없기 때문입니다."
    ),
    "no_grad_fn_why_from_gradient_unseen": (
        "{gradient}에 그래프가 없어서 {root}에도 없습니다. 변화도는 create_graph=True로 역전파하여 계산할 "
        "때만 그래프를 가집니다."
    ),
    "no_grad_fn_fix_gradient": "{gradient}을(를) 다시 미분하려면 그 그래프를 만듭니다: {call}.",
    "no_grad_fn_fix_gradient_at": (
        "{gradient}을(를) 다시 미분하려면 그 그래프를 만듭니다: {made}에 create_graph=True를 줍니다."
    ),
    "no_grad_fn_fix_gradient_unseen": (
        "{gradient}을(를) 다시 미분하려면 backward()나 autograd.grad()에 create_graph=True를 주어 계산합니다."
    ),
    "no_grad_fn_fix_detach": (
        "변화도가 흘러야 하는 곳에서는 detach()를 뺍니다. {root}.requires_grad = True는 소용이 없습니다. "
        "아무 데도 이어지지 않는 새 잎이 될 뿐입니다."
    ),
    "no_grad_fn_fix_data": (
        "변화도가 흘러야 하는 곳에서는 .data를 뺍니다. {root}.requires_grad = True는 소용이 없습니다. 아무 "
        "데도 이어지지 않는 새 잎이 될 뿐입니다."
    ),
    "no_grad_fn_fix_no_grad": (
        "no_grad() 밖에서 계산합니다. {root}.requires_grad = True는 소용이 없습니다. 아무 데도 이어지지 "
        "않는 새 잎이 될 뿐입니다."
    ),
    "no_grad_fn_fix_inference": (
        "inference_mode() 밖에서 계산합니다. {root}.requires_grad = True는 소용이 없습니다. 아무 데도 "
        "이어지지 않는 새 잎이 될 뿐입니다."
    ),
    "no_grad_fn_fix_numpy": (
        "{source}에서 {root}까지 텐서와 텐서 함수만 씁니다. {root}.requires_grad = True는 소용이 없습니다. "
        "아무 데도 이어지지 않는 새 잎이 될 뿐입니다."
    ),
    "no_grad_fn_fix_item": (
        "{source}에서 {root}까지 item()이나 float() 없이 텐서만 씁니다. {root}.requires_grad = True는 "
        "소용이 없습니다. 아무 데도 이어지지 않는 새 잎이 될 뿐입니다."
    ),
    "no_grad_fn_fix_tensor": (
        "새 텐서를 만들지 말고 {source}을(를) 그대로 씁니다. {root}.requires_grad = True는 소용이 없습니다. "
        "아무 데도 이어지지 않는 새 잎이 될 뿐입니다."
    ),
    "no_grad_fn_fix_integer": (
        "도함수가 있는 연산을 씁니다. {root}.requires_grad = True는 소용이 없습니다. 아무 데도 이어지지 "
        "않는 새 잎이 될 뿐입니다."
    ),
    "no_grad_fn_fix_made": (
        "데이터를 만들 때 변화도를 요구합니다: torch.tensor(…, requires_grad=True). 그다음 그것으로 "
        "{root}을(를) 계산합니다."
    ),
    "no_grad_fn_fix_asks": (
        "변화도를 구하려는 텐서를 requires_grad=True로 만들고, 그다음 그것으로 {root}을(를) 계산합니다."
    ),
    "implicit_gradient_why": (
        "{root}의 shape는 {shape}입니다. gradient=가 없으면 역전파는 1에서 시작하는데, 이것은 수 하나에만 "
        "맞습니다."
    ),
    "implicit_gradient_fix_backward": (
        "수 하나로 만듭니다: {called}.sum().backward() 또는 mean(). 아니면 원소마다 얼마로 칠지 줍니다: "
        "{called}.backward(gradient=torch.ones_like({root})). 이것이 vᵀJ의 v이고, 모두 1이면 sum()과 "
        "같습니다."
    ),
    "implicit_gradient_fix_grad": (
        "수 하나로 만듭니다: {called}.sum() 또는 mean(). 아니면 원소마다 얼마로 칠지 줍니다: "
        "grad_outputs=torch.ones_like({root}). 이것이 vᵀJ의 v이고, 모두 1이면 sum()과 같습니다."
    ),
    "gradient_shape_why": (
        "변화도의 shape는 {given}인데 {root}의 shape는 {wanted}입니다. {root}의 원소마다 수가 하나씩 있어야 "
        "합니다."
    ),
    "gradient_shape_why_some": "변화도의 shape는 {given}인데, 그것이 주어진 텐서의 shape는 {wanted}입니다.",
    "gradient_shape_fix": "shape가 {wanted}인 변화도를 줍니다. 예: torch.ones_like({root}).",
    "unused_input_why": "{roots}의 계산에 {input}은(는) 쓰이지 않았습니다.",
    "unused_input_why_cut": "{roots}의 계산에 {input}이(가) 쓰였지만 {cut}에서 경로가 끊겼습니다.",
    "unused_input_why_no_grad": (
        "{roots}의 계산에 {input}이(가) 쓰였지만 {cut}이(가) no_grad() 안에서 실행되어 경로가 끊겼습니다."
    ),
    "unused_input_why_inference": (
        "{roots}의 계산에 {input}이(가) 쓰였지만 {cut}이(가) inference 모드에서 실행되어 경로가 끊겼습니다."
    ),
    "unused_input_why_renamed": (
        "{roots}의 계산에 쓰인 것은 {earlier}입니다. 지금 {plain}(이)라는 이름의 {input}은(는) 다른 "
        "텐서입니다."
    ),
    "unused_input_fix_renamed": "둘 가운데 하나에 다른 이름을 주고, {earlier}의 변화도를 구합니다.",
    "unused_input_why_none": "{input}에 돌아온 변화도가 없습니다.",
    "unused_input_fix": "{input}을(를) 빼거나 allow_unused=True를 줍니다. 그러면 그 변화도는 None입니다.",
    "unused_input_fix_cut": "끊지 않고 계산합니다. allow_unused=True를 주면 {input}의 변화도는 None입니다.",
    "input_asks_not_why": "{input}은(는) 변화도를 요구하지 않으므로 {call}이(가) 그 변화도를 줄 수 없습니다.",
    "input_asks_not_why_cut": (
        "{cut}에서 {source}(으)로부터의 경로가 끊겨 {input}은(는) 변화도를 요구하지 않습니다."
    ),
    "input_asks_not_why_no_grad": (
        "{cut}이(가) no_grad() 안에서 실행되어 {source}(으)로부터의 경로가 끊겼으므로 {input}은(는) "
        "변화도를 요구하지 않습니다."
    ),
    "input_asks_not_why_inference": (
        "{cut}이(가) inference 모드에서 실행되어 {source}(으)로부터의 경로가 끊겼으므로 {input}은(는) "
        "변화도를 요구하지 않습니다."
    ),
    "input_asks_not_fix": "쓰기 전에 {input}을(를) requires_grad=True로 만들거나, 여기서 뺍니다.",
    "input_asks_not_fix_cut": "{input}을(를) 끊지 않고 계산하거나, 여기서 뺍니다.",
    "hook_shape_why_shape": "hook {hook}이(가) 받은 것과 shape가 다른 변화도를 돌려주었습니다.",
    "hook_shape_why_shape_at": (
        "{place}에서 {name}에 등록한 hook {hook}이(가) 받은 것과 shape가 다른 변화도를 돌려주었습니다."
    ),
    "hook_shape_why_dtype": "hook {hook}이(가) {was}을(를) 받아 {got}을(를) 돌려주었습니다.",
    "hook_shape_why_dtype_at": (
        "{place}에서 {name}에 등록한 hook {hook}이(가) {was}을(를) 받아 {got}을(를) 돌려주었습니다."
    ),
    "hook_shape_why_count": "hook {hook}이(가) 변화도를 {was}개가 아니라 {got}개 돌려주었습니다.",
    "hook_shape_why_count_at": (
        "{place}에서 {name}에 등록한 hook {hook}이(가) 변화도를 {was}개가 아니라 {got}개 돌려주었습니다."
    ),
    "hook_shape_why_type": "hook이 텐서가 아니라 {got} 타입의 값을 돌려주었습니다.",
    "hook_shape_why_type_at": (
        "{place}에서 {name}에 등록한 hook {hook}이(가) 텐서가 아니라 {got} 타입의 값을 돌려주었습니다."
    ),
    "hook_shape_fix": (
        "hook은 값을 바꿀 수 있지만 shape와 dtype은 바꿀 수 없습니다. 그런 텐서를 돌려주거나, 그대로 두려면 "
        "None을 돌려줍니다."
    ),
    "wrong_count_why": (
        "{method}은(는) forward의 입력마다 변화도를 하나씩 돌려주어야 하므로 {got}개가 아니라 "
        "{expected}개여야 합니다."
    ),
    "wrong_count_why_at": (
        "{method}은(는) forward의 입력마다 변화도를 하나씩 돌려주어야 하므로 {got}개가 아니라 "
        "{expected}개여야 합니다: {place}."
    ),
    "wrong_count_fix": (
        "ctx를 뺀 forward의 입력 순서대로 변화도를 돌려줍니다. 변화도가 필요 없는 자리에는 None을 씁니다."
    ),
    "wrong_gradient_why": (
        "{method}이(가) 돌려준 입력 {i}의 변화도는 shape가 {got}인데 그 입력의 shape는 {expected}입니다."
    ),
    "wrong_gradient_why_at": (
        "{method}이(가) 돌려준 입력 {i}의 변화도는 shape가 {got}인데 그 입력의 shape는 {expected}입니다: "
        "{place}."
    ),
    "wrong_gradient_fix": (
        "shape가 {expected}인 변화도를 돌려줍니다. 입력의 수마다 수가 하나씩 있어야 합니다."
    ),
    "nan_why": "{node}이(가) {took}을(를) 받아 nan을 보냈습니다.",
    "nan_why_saved": "{saved}을(를) 저장한 {node}이(가) {took}을(를) 받아 nan을 보냈습니다.",
    "nan_fix": "{made}에 들어가는 값을 살펴봅니다. 그곳에서 도함수가 유한한 수가 아닙니다.",
    "nan_fix_masked": (
        "그런 값이 {made}에 들어가지 않게 그 전에 막습니다. 그 뒤에 0을 곱하는 것은 소용이 없습니다. "
        "역전파가 0 · inf를 계산하여 nan이 됩니다."
    ),
    "raised_why": "역전파가 부른 사용자의 코드에서 난 오류입니다: {place}.",
    "raised_why_backward": "{node}이(가) 실행될 때 {method}에서 난 오류입니다: {place}.",
    "raised_why_hook": "{name}의 hook {hook}에서 난 오류입니다: {place}.",
    # errors
    "error": "오류",
    "why": "이유",
    "fix": "해결",
    "stopped_here": "여기서 멈춤",
    "graph_until_error": "오류가 난 곳까지의 그래프",
    "error_caught": "처리된 오류",
    "note": "참고",
    "unexplained": "무엇이 잘못되었는지 설명할 수 없습니다: {problem}",
    "error_unknown": "이 오류에 대해 더 알려진 것이 없습니다.",
    "no_error": "아직 오류가 없습니다.",
    # errors of calls other than backward
    "also_called": "{text}({name})",
    "leaf_in_place_why": (
        "{name}은(는) 변화도를 요구하는 잎입니다. 제자리에서 바꾸면 연산의 결과가 되어 {called}.grad에 "
        "변화도가 저장되지 않게 됩니다."
    ),
    "leaf_in_place_fix": (
        "{name}을(를) 갱신하려면 `with torch.no_grad():` 안에서 바꿉니다. 바뀐 값으로 계산하려면 새 텐서를 "
        "만듭니다."
    ),
    "view_of_leaf_in_place_why": (
        "{name}은(는) 변화도를 요구하는 잎 {leaf}의 메모리를 씁니다. {name}에 쓰면 {leaf}을(를) 제자리에서 "
        "바꾸게 됩니다."
    ),
    "view_of_leaf_in_place_fix": (
        "{leaf}을(를) 갱신하려면 `with torch.no_grad():` 안에서 바꿉니다. 바뀐 값으로 계산하려면 복사본 "
        "{leaf}.clone()에 씁니다."
    ),
    "item_of_leaf_in_place_why": (
        "{name}은(는) 변화도를 요구하는 잎이고, 그 일부에 대입하면 제자리에서 바뀝니다."
    ),
    "item_of_leaf_in_place_fix": (
        "{name}을(를) 갱신하려면 `with torch.no_grad():` 안에서 바꿉니다. 바뀐 값으로 계산하려면 복사본 "
        "{called}.clone()에 씁니다."
    ),
    "view_of_several_why": (
        "{name}은(는) 연산 하나가 만든 여러 뷰 가운데 하나입니다. 역전파 노드 하나를 함께 쓰므로 그중 하나만 "
        "제자리에서 바꿀 수 없습니다."
    ),
    "view_of_several_fix": "{name}에 쓰지 말고 새 텐서를 계산하거나, {called}.clone()에 씁니다.",
    "view_of_function_why": (
        "{name}은(는) 사용자 정의 Function({node})에서 나왔고 그 입력의 메모리를 씁니다. 여기에 쓰면 "
        "Function의 backward를 거치지 않게 됩니다."
    ),
    "view_of_function_fix": "복사본 {called}.clone()에 씁니다.",
    "view_of_no_grad_why": (
        "{name}은(는) no_grad() 안에서 만들어져 그래프 밖에 있는 뷰인데, 변화도를 기록하는 동안 바뀌려 "
        "합니다. backward()가 이것을 알아야 하는지가 분명하지 "
        "않습니다."
    ),
    "view_of_no_grad_late": (
        "이 뷰는 no_grad() 안에서 만들어져 그래프 밖에 있는데, 그 메모리가 변화도를 기록하는 동안 "
        "바뀌었습니다. backward()가 이것을 알아야 하는지가 분명하지 "
        "않습니다."
    ),
    "view_of_no_grad_fix": (
        "변화도가 흐르지 않아도 되면 뷰를 만들고 쓰는 일을 모두 no_grad() 안에서, 아니면 모두 밖에서 합니다."
    ),
    "view_of_inference_why": (
        "{name}은(는) inference 모드에서 만들어져 그래프 밖에 있는 뷰인데, 변화도를 기록하는 동안 바뀌려 "
        "합니다. backward()가 이것을 알아야 하는지가 분명하지 "
        "않습니다."
    ),
    "view_of_inference_late": (
        "이 뷰는 inference 모드에서 만들어져 그래프 밖에 있는데, 그 메모리가 변화도를 기록하는 동안 "
        "바뀌었습니다. backward()가 이것을 알아야 하는지가 분명하지 "
        "않습니다."
    ),
    "view_of_inference_fix": (
        "변화도가 흐르지 않아도 되면 뷰를 만들고 쓰는 일을 모두 inference 모드에서, 아니면 모두 밖에서 "
        "합니다."
    ),
    "integer_requires_grad_why": (
        "{name}의 dtype은 {dtype}입니다. 미분하려면 아주 조금씩 바뀔 수 있는 수여야 하므로 실수와 복소수만 "
        "됩니다."
    ),
    "integer_requires_grad_fix": "먼저 실수 텐서로 만듭니다: {called}.float().",
    "integer_requires_grad_new": (
        "정수나 참거짓 값의 텐서가 됩니다. 미분하려면 아주 조금씩 바뀔 수 있는 수여야 하므로 실수와 복소수만 "
        "됩니다."
    ),
    "integer_requires_grad_new_fix": "1 대신 1.로 쓰거나 dtype=torch.float32를 줍니다.",
    "flag_of_non_leaf_why": (
        "{name}은(는) 계산된 텐서이고, 계산에 쓰인 것이 변화도를 요구하므로 변화도를 요구합니다. 이것을 끌 "
        "수 있는 것은 잎뿐입니다."
    ),
    "flag_of_non_leaf_fix": "그래프 없이 같은 수를 쓰려면 {called}.detach()를 씁니다.",
    "flag_of_non_leaf_on_why": (
        "{name}은(는) 계산된 텐서이고, 계산에 쓰인 것이 변화도를 요구하므로 이미 변화도를 요구합니다. 이 "
        "값을 정할 수 있는 것은 잎뿐입니다."
    ),
    "flag_of_non_leaf_on_fix": (
        "이 줄은 필요 없습니다. {name}의 변화도를 보려면 backward() 전에 {called}.retain_grad()를 호출합니다."
    ),
    "retain_grad_without_why": "{name}은(는) 변화도를 요구하지 않으므로 저장할 변화도가 오지 않습니다.",
    "retain_grad_without_fix": "변화도를 요구하는 텐서로 {name}을(를) 계산합니다.",
    "hook_without_why": (
        "{name}은(는) 변화도를 요구하지 않으므로 변화도가 오지 않고 hook이 호출될 일이 없습니다."
    ),
    "hook_without_fix": "변화도를 요구하는 텐서로 {name}을(를) 계산합니다.",
    "ends_no_grad": "{name}은(는) {line}행에서 no_grad() 안에서 계산되었습니다.",
    "ends_no_grad_fix": "{name}을(를) no_grad() 밖에서 계산합니다.",
    "ends_inference": "{name}은(는) {line}행에서 inference 모드로 계산되었습니다.",
    "ends_inference_fix": "{name}을(를) inference 모드 밖에서 계산합니다.",
    "ends_detach": "{line}행의 detach()가 {name}을(를) {source}에서 끊었습니다.",
    "ends_detach_fix": "변화도가 흘러야 하는 곳에서는 {name} 대신 {source}을(를) 그대로 씁니다.",
    "ends_made": "{name}은(는) {line}행에서 requires_grad=True 없이 만들어졌습니다.",
    "ends_made_fix": "{name}을(를) 만들 때 requires_grad=True를 줍니다.",
    "ends_data": "{line}행의 .data가 {name}을(를) {source}에서 끊었습니다.",
    "ends_data_fix": "변화도가 흘러야 하는 곳에서는 {name} 대신 {source}을(를) 그대로 씁니다.",
    "ends_numbers": "{name}은(는) {line}행에서 {source}의 수로 만들어졌고, 수에는 그래프가 없습니다.",
    "ends_numbers_fix": "변화도가 흘러야 하는 곳에서는 텐서 {source}(으)로 계속 계산합니다.",
    "ends_integer": "{name}의 dtype은 {dtype}이고, 변화도를 요구할 수 있는 것은 실수와 복소수 텐서뿐입니다.",
    "hook_of_non_leaf_why": (
        "{name}은(는) 계산된 텐서입니다. 이런 hook은 잎의 .grad에 변화도가 더해진 뒤에 실행되는데 여기서는 "
        "그런 일이 없습니다."
    ),
    "hook_of_non_leaf_fix": "모든 텐서의 변화도를 볼 수 있는 {called}.register_hook(…)을 씁니다.",
    "numpy_of_graph_why": (
        "{name}은(는) 변화도를 요구하는데 NumPy는 그래프를 만들지 않습니다. NumPy로 계산한 것을 거쳐서는 "
        "변화도가 돌아올 수 없습니다."
    ),
    "numpy_of_graph_fix": (
        "수만 필요하면 {called}.detach().numpy()를 씁니다. 변화도가 흘러야 하면 텐서로 계산합니다."
    ),
    "deepcopy_of_non_leaf_why": (
        "{name}은(는) 계산된 텐서입니다. 깊은 복사를 하려면 거기에 딸린 계산 기록까지 복사해야 합니다."
    ),
    "deepcopy_of_non_leaf_fix": (
        "수만 필요하면 {called}.detach().clone()을, 변화도가 흐르는 복사본이 필요하면 {called}.clone()을 "
        "씁니다."
    ),
    "optimizer_of_non_leaf_why": (
        "{name}은(는) 계산된 텐서라서 backward()가 그 .grad에 변화도를 저장하지 않는데, optimizer는 그것을 "
        "씁니다."
    ),
    "optimizer_of_non_leaf_fix": (
        "{name}의 계산에 쓰인 잎들을 optimizer에 주거나, {called}.detach().requires_grad_()로 잎을 만듭니다."
    ),
    "assigned_shape_why": (
        "{name}의 shape는 {shape}입니다. 변화도에는 그 수 하나마다 수가 하나씩 있으므로 shape가 같아야 "
        "하는데 {given}입니다."
    ),
    "assigned_shape_fix": "shape가 {shape}인 텐서를 대입합니다.",
    "assigned_dtype_why": "{name}의 dtype은 {dtype}이고 변화도도 그래야 하는데 {given}입니다.",
    "assigned_dtype_fix": "변화도를 먼저 변환합니다: .to({called}.dtype).",
    "assigned_type_why": "{name}의 변화도는 텐서이거나, 없으면 None입니다. 대입한 것의 타입은 {given}입니다.",
    "assigned_type_fix": "shape가 {shape}인 텐서나 None을 대입합니다.",
    "assigned_self_why": (
        "{name}은(는) 자신의 변화도가 될 수 없습니다. 다음 backward()가 {name} 자체에 더하게 됩니다."
    ),
    "assigned_self_fix": "복사본을 대입합니다: {called}.detach().clone().",
    "mark_in_place": "쓸 수 없음",
    "mark_memory": "이 메모리",
    "mark_dtype": "{dtype}",
    "mark_computed": "잎이 아님",
    "mark_asks": "변화도를 요구함",
    "mark_asks_not": "변화도를 요구하지 않음",
    "mark_cut": "여기서 끊김",
    "mark_assigned_shape": "shape {shape}, {given} 아님",
    "mark_assigned_dtype": "{dtype}, {given} 아님",
    "mark_assigned_type": "텐서나 None, {given} 아님",
    "mark_assigned_self": "자신이 변화도",
    # a node: how its op was called, the source of a custom Function
    "kind_tensor": "텐서",
    "kind_number": "수",
    "tip_kinds": "호출한 방식: {called}",
    "tip_digit": "{name}의 {digit}: 이 연산의 변형 가운데 PyTorch가 따로 미분하는 것에 0부터 매긴 번호",
    "code_at": "{name}: {line}행",
    "code_elsewhere": "{name}: 이 셀 밖에서 정의됨",
    "tip_leaf_constant": "이것도 잎(leaf): grad_fn이 없는 텐서는 변화도를 요구하지 않아도 모두 잎임",
    "creates_label": "그래프",
    "creates": "create_graph=True: 이 호출이 계산한 것이 변화도의 그래프가 됨",
    "retains_label": "유지",
    "retains": "노드가 저장한 것이 남으므로 backward가 이 그래프를 다시 지날 수 있음 (retain_graph=True)",
    # why not plain recursion
    "recursion_label": "재귀",
    "recursion": (
        "대기열은 화살표 {n}개를 기다렸음: 단순한 재귀라면 {node}을(를) 경로마다 한 번씩, {times}번 실행함"
    ),
    "recursion_head": (
        "단순한 재귀라면 노드를 {nodes}번이 아니라 {runs}번 실행합니다. 노드로 오는 경로마다 한 번씩입니다."
    ),
    "recursion_node": "{name}의 {node}: {times}번",
    "recursion_wrong": (
        "노드가 들어온 것을 이미 가진 것에 더하고 매번 그 합을 보낸다면 {name}은(는) {right}이(가) "
        "아니라 {wrong}을(를) 받습니다."
    ),
    "recursion_more": "… 노드 {n}개 더 있음",
    "recursion_right": "대기열은 노드로 오는 화살표가 모두 도착했을 때 그 노드를 한 번 실행합니다.",
    "recursion_none": "만나는 경로가 없습니다. 단순한 재귀로도 모든 노드를 한 번씩 실행합니다.",
    "recursion_unknown": "비교할 끝난 backward 호출이 없습니다.",
    # silent mistakes
    "new_leaf_why": (
        "{new}은(는) 계산된 값인데 {made}에서 새 잎이 되었습니다. {cut}에서 {source}와(과) 끊어졌으므로 그 "
        "뒤로는 변화도가 가지 않습니다. 변화도가 오지 않는 "
        "곳: {names}."
    ),
    "new_leaf_why_at_once": (
        "{made}에서 {new}은(는) {source}의 수만 가진 새 잎이 되었으므로 그 뒤로는 변화도가 가지 않습니다. "
        "변화도가 오지 않는 곳: {names}."
    ),
    "new_leaf_fix_detach": (
        "{names}까지 변화도를 보내려면 {new} 대신 {source}을(를) 그대로 씁니다. requires_grad는 끊어진 곳을 "
        "잇지 않습니다."
    ),
    "new_leaf_fix_numbers": (
        "{names}까지 변화도를 보내려면 꺼낸 수가 아니라 텐서 {source}(으)로 계속 계산합니다."
    ),
    "new_leaf_fix_mode": (
        "{names}까지 변화도를 보내려면 {new}을(를) no_grad()나 inference_mode() 밖에서 계산합니다. "
        "requires_grad는 기록되지 않은 것을 "
        "되살리지 않습니다."
    ),
    "mark_new_leaf": "새 잎",
    "non_leaf_grad_why": (
        "{name}.grad는 None입니다. backward()가 변화도 {value}을(를) 계산했지만 {name}은(는) 잎이 아니므로 "
        "저장하지 않았습니다."
    ),
    "non_leaf_grad_fix": "backward() 전에 {name}.retain_grad()를 호출합니다.",
    "mark_not_kept": "저장 안 함",
    "single_precision_why": (
        "{name}의 dtype은 {dtype}입니다. 이 검사는 백만분의 일쯤의 차이를 비교하는데 {dtype}은 자릿수가 "
        "모자라, backward가 옳아도 실패할 수 있습니다."
    ),
    "single_precision_fix": "배정밀도를 씁니다: {called}.double() (dtype float64).",
    # why_none
    "why_tensor": "텐서",
    "why_has_grad": "{name}.grad는 None이 아니라 {value}입니다.",
    "why_integer": (
        "{name}의 dtype이 {dtype}이고 변화도를 요구할 수 있는 것은 실수와 복소수 텐서뿐이므로 {name}.grad는 "
        "None입니다."
    ),
    "why_no_flag": "{name}은(는) 변화도를 요구하지 않으므로 {name}.grad는 None입니다.",
    "why_no_flag_no_grad": (
        "{cut}은(는) no_grad() 안에서 실행되어 {name}이(가) 변화도를 요구하지 않으므로 {name}.grad는 "
        "None입니다."
    ),
    "why_no_flag_inference": (
        "{cut}은(는) inference 모드에서 실행되어 {name}이(가) 변화도를 요구하지 않으므로 {name}.grad는 "
        "None입니다."
    ),
    "why_no_flag_detach": (
        "{cut}이(가) {name}을(를) {source}에서 끊어 {name}이(가) 변화도를 요구하지 않으므로 {name}.grad는 "
        "None입니다."
    ),
    "why_no_flag_numbers": (
        "{cut}은(는) {source}의 수만 가져와 {name}이(가) 변화도를 요구하지 않으므로 {name}.grad는 None입니다."
    ),
    "why_no_flag_behind": (
        "{name}의 계산에 쓰인 {middle}을(를) {cut}이(가) {source}에서 끊어 {name}이(가) 변화도를 요구하지 "
        "않으므로 {name}.grad는 "
        "None입니다."
    ),
    "why_no_flag_made": (
        "{cut}에서 requires_grad=True 없이 만들어져 {name}이(가) 변화도를 요구하지 않으므로 {name}.grad는 "
        "None입니다."
    ),
    "why_not_leaf": (
        "{name}은(는) 잎이 아니고 그 변화도는 {name}.retain_grad() 뒤에만 저장되므로 {name}.grad는 "
        "None입니다."
    ),
    "why_not_leaf_value": (
        "{name}은(는) 잎이 아니어서 {call}이(가) 변화도 {value}을(를) 계산했지만 {name}.retain_grad() 뒤에만 "
        "저장하므로 {name}.grad는 "
        "None입니다."
    ),
    "why_retained_late": (
        "{call}이(가) 변화도 {value}을(를) 계산한 뒤에야 {name}.retain_grad()를 호출했으므로 {name}.grad는 "
        "None입니다."
    ),
    "why_reset_at": (
        "{call}이(가) {value}을(를) 저장한 뒤 {line}행에서 비워졌으므로 {name}.grad는 None입니다."
    ),
    "why_reset_since": "{call}이(가) {value}을(를) 저장한 뒤에 비워졌으므로 {name}.grad는 None입니다.",
    "why_asked_late": (
        "{asked}에서 변화도를 요구하게 되기 전에 {made}이(가) {name}을(를) 사용했으므로 {name}.grad는 "
        "None입니다."
    ),
    "why_no_flag_off": "{asked}에서 꺼서 {name}이(가) 변화도를 요구하지 않으므로 {name}.grad는 None입니다.",
    "why_no_call": "{name}.grad는 None입니다. 지켜본 마지막 셀에서 실행된 backward()가 없습니다.",
    "why_failed_early": (
        "{name}.grad는 None입니다. 지켜본 마지막 셀은 backward()가 실행되기 전에 {place}에서 실패했습니다."
    ),
    "why_failed": "변화도가 {name}에 이르기 전에 {call}이(가) 실패했으므로 {name}.grad는 None입니다.",
    "why_grad_call": "{call}은(는) 변화도를 돌려줄 뿐 .grad에 저장하지 않으므로 {name}.grad는 None입니다.",
    "why_inputs": "{name}은(는) {call}의 inputs=에 들어 있지 않으므로 {name}.grad는 None입니다.",
    "why_none_sent": "{call}에서 {node}이(가) 변화도 대신 None을 보냈으므로 {name}.grad는 None입니다.",
    "why_none_arrived": "{call}에서 {name}에 온 것이 변화도가 아니라 None이므로 {name}.grad는 None입니다.",
    "why_cut": (
        "{cut}이(가) {name}에서 {root}(으)로 가는 경로를 끊어 거기서 시작한 {call}의 변화도가 오지 않으므로 "
        "{name}.grad는 None입니다."
    ),
    "why_new_leaf": (
        "{cut}이(가) {name}에서 {root}(으)로 가는 경로를 끊고 {made}이(가) {leaf}을(를) 새 잎으로 만들어 "
        "{call}의 변화도가 거기서 끝나므로 "
        "{name}.grad는 None입니다."
    ),
    "why_new_leaf_at_once": (
        "{cut}이(가) {name}에서 {root}(으)로 가는 경로를 끊고 {leaf}을(를) 새 잎으로 만들어 {call}의 "
        "변화도가 거기서 끝나므로 {name}.grad는 "
        "None입니다."
    ),
    "why_no_path": (
        "{call}이(가) 시작한 {root}의 계산에 {name}이(가) 쓰이지 않았으므로 {name}.grad는 None입니다."
    ),
    "why_not_in_graph": "{name}은(는) {call}이(가) 지나간 그래프에 없으므로 {name}.grad는 None입니다.",
    "why_in_graph": (
        "{name}은(는) 다음의 그래프에 있지만 아직 변화도가 오지 않았거나 비워졌으므로 {name}.grad는 "
        "None입니다: {roots}."
    ),
    "why_in_no_graph": (
        "{name}.grad는 None이고, {name}이(가) 들어 있는 그래프를 가진 다른 변수가 여기에 없으므로 그런 "
        "변수의 backward()는 {name}에 이를 수 "
        "없습니다."
    ),
    "why_unknown": "{name}.grad는 None이지만 그 이유가 확실하지 않습니다.",
}
