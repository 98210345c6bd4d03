"""Layers, activations and losses as modules, in both libraries: the same first numbers, results, gradients,
running statistics and texts.
"""

import pytest
from calls import assert_same_ends, each
from functions import numbers

import minigrad

# Each layer with the shapes of its inputs.
LAYERS = """
Linear(in_features=3, out_features=2): 4 3 | Linear(in_features=3, out_features=2, bias=False): 3
Linear(in_features=4, out_features=2): 2 3 4 | Identity(): 4 3 | Flatten(): 2 3 2 2
Flatten(start_dim=0, end_dim=1): 2 3 4 | Unflatten(dim=0, unflattened_size=(2, 2)): 4 3
BatchNorm1d(num_features=3): 4 3 | BatchNorm1d(num_features=3, momentum=None): 2 3 4
BatchNorm2d(num_features=3, affine=False): 2 3 2 2
BatchNorm3d(num_features=3, track_running_stats=False): 1 3 2 2 2 | InstanceNorm1d(num_features=3): 2 3 4
InstanceNorm1d(num_features=3, affine=True, track_running_stats=True): 2 3 4
InstanceNorm2d(num_features=3, affine=True): 2 3 2 2 | LayerNorm(normalized_shape=3): 4 3
LayerNorm(normalized_shape=[3, 4], bias=False): 2 3 4
LayerNorm(normalized_shape=4, elementwise_affine=False): 2 3 4 | RMSNorm(normalized_shape=3): 4 3
GroupNorm(num_groups=3, num_channels=3): 2 3 4 | ReLU(): 4 3 | ReLU6(): 4 3 | SiLU(): 4 3 | Mish(): 4 3
SELU(): 4 3 | Sigmoid(): 4 3 | Tanh(): 4 3 | LogSigmoid(): 4 3 | Softsign(): 4 3 | Tanhshrink(): 4 3
LeakyReLU(): 4 3 | ELU(): 4 3 | GELU(): 4 3 | Softplus(): 4 3 | Hardtanh(): 4 3 | Hardshrink(): 4 3
Softshrink(): 4 3 | ReLU(inplace=True): 4 3 | LeakyReLU(negative_slope=0.3): 4 3 | ELU(alpha=0.5): 3
GELU(approximate='tanh'): 4 3 | Softplus(beta=2.0, threshold=1.0): 4 3
Hardtanh(min_val=-0.1, max_val=0.2): 4 3 | Softmax(dim=1): 4 3 | Softmin(dim=0): 4 3
LogSoftmax(dim=-1): 2 3 4 | Dropout(p=0.3): 4 3
Conv1d(in_channels=4, out_channels=2, kernel_size=3): 2 4 6
Conv2d(in_channels=4, out_channels=2, kernel_size=3): 1 4 6 5
Conv3d(in_channels=4, out_channels=2, kernel_size=3): 1 4 4 5 4
ConvTranspose1d(in_channels=4, out_channels=2, kernel_size=2): 2 4 6
ConvTranspose2d(in_channels=4, out_channels=2, kernel_size=2): 1 4 6 5
ConvTranspose3d(in_channels=4, out_channels=2, kernel_size=2): 1 4 4 5 4
Conv1d(in_channels=4, out_channels=4, kernel_size=2, padding='same', groups=2): 2 4 6
Conv2d(in_channels=4, out_channels=2, kernel_size=(2, 3), stride=2, bias=False): 1 4 6 5
Conv2d(in_channels=4, out_channels=2, kernel_size=3, padding=(2, 1), dilation=2): 1 4 6 5
ConvTranspose2d(in_channels=4, out_channels=2, kernel_size=3, stride=2, padding=1, output_padding=1): 1 4 6 5
MaxPool1d(kernel_size=2): 2 4 6 | MaxPool2d(kernel_size=2): 1 4 6 5 | MaxPool3d(kernel_size=2): 1 4 4 5 4
AvgPool1d(kernel_size=2): 2 4 6 | AvgPool2d(kernel_size=2): 1 4 6 5 | AvgPool3d(kernel_size=2): 1 4 4 5 4
AdaptiveAvgPool1d(output_size=1): 2 4 6 | AdaptiveAvgPool1d(output_size=3): 2 4 6
AdaptiveAvgPool2d(output_size=1): 1 4 6 5 | AdaptiveAvgPool2d(output_size=3): 1 4 6 5
AdaptiveAvgPool3d(output_size=1): 1 4 4 5 4 | AdaptiveAvgPool3d(output_size=3): 1 4 4 5 4
MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=True): 1 4 6 5
AvgPool2d(kernel_size=2, divisor_override=3): 1 4 6 5 | Upsample(size=9): 2 4 6
Upsample(scale_factor=(2, 1.5), mode='bilinear', align_corners=True): 1 4 6 5
Upsample(scale_factor=0.5, mode='trilinear', recompute_scale_factor=True): 1 4 4 5 4
AdaptiveMaxPool2d(output_size=3): 1 4 6 5 | AdaptiveMaxPool2d(output_size=(None, 2)): 1 4 6 5
Unfold(kernel_size=2, padding=1): 1 4 6 5 | LocalResponseNorm(size=3, alpha=0.1): 1 4 6 5
ZeroPad1d(padding=1): 2 4 6 | ReflectionPad1d(padding=1): 2 4 6 | ReplicationPad1d(padding=1): 2 4 6
ZeroPad2d(padding=1): 1 4 6 5 | ReflectionPad2d(padding=1): 1 4 6 5 | ReplicationPad2d(padding=1): 1 4 6 5
ZeroPad3d(padding=1): 1 4 4 5 4 | ReflectionPad3d(padding=1): 1 4 4 5 4
ReplicationPad3d(padding=1): 1 4 4 5 4 | ConstantPad2d(padding=(1, 0, -1, 2), value=3.5): 1 4 6 5
Conv2d(in_channels=4, out_channels=2, kernel_size=(3, 2), padding=(1, 2), padding_mode='reflect'): 1 4 6 5
Conv2d(in_channels=4, out_channels=2, kernel_size=(3, 2), padding='same', padding_mode='replicate'): 1 4 6 5
Conv2d(in_channels=4, out_channels=2, kernel_size=(3, 2), padding='valid', padding_mode='reflect'): 1 4 6 5
Conv1d(in_channels=4, out_channels=4, kernel_size=3, padding=2, bias=False, padding_mode='replicate'): 2 4 6
Fold(output_size=(3, 4), kernel_size=(2, 2), stride=1): 1 8 6 | CosineSimilarity(dim=0): 3 4, 3 4
PairwiseDistance(p=1.0, keepdim=True): 3 4, 3 4 | PixelShuffle(upscale_factor=2): 1 8 2 3
PixelUnshuffle(downscale_factor=2): 2 4 6 | PReLU(): 3 4 | PReLU(num_parameters=4, init=0.5): 3 4
Threshold(threshold=0.1, value=20.0): 2 3 | Threshold(threshold=0.1, value=20, inplace=True): 2 3
MSELoss(size_average=False): 3 4, 3 4 | L1Loss(reduce=False): 3 4, 3 4
SmoothL1Loss(size_average=True, beta=0.3): 3 4, 3 4
"""

LOSSES = [
    *((name, {"reduction": how}) for name in (
        "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "KLDivLoss",
        "BCEWithLogitsLoss") for how in ("mean", "sum", "none")),
]  # fmt: skip

pytestmark = pytest.mark.quick


def constant(L, *shape):
    return numbers(L, *shape).float().detach()


@pytest.mark.quick(60)
@pytest.mark.sample(200)
@pytest.mark.parametrize("row", each(LAYERS))
def test_layers(L, note, row):
    call, _, shapes = row.rpartition(": ")
    L.manual_seed(3)
    layer = eval(f"L.nn.{call}", {"L": L})
    note(repr(layer), [(key, t) for key, t in layer.state_dict().items()])
    for training in (True, False):
        layer.double().train(training)
        given = [numbers(L, *map(int, shape.split())) * (i + 1) for i, shape in enumerate(shapes.split(", "))]
        for t in given:
            t.retain_grad()
        L.manual_seed(5)
        out = layer(*(t * 1 for t in given))
        note(out)
        (out * numbers(L, *out.shape).detach().cos()).sum().backward()
        note(*(t.grad for t in given), *(p.grad for p in layer.parameters()))
    note([(key, t) for key, t in layer.state_dict().items()])


@pytest.mark.parametrize(("name", "settings"), LOSSES, ids=[f"{n}-{s['reduction']}" for n, s in LOSSES])
def test_losses(L, note, name, settings):
    loss = getattr(L.nn, name)(**settings)
    x, target = constant(L, 4, 3).requires_grad_(), constant(L, 4, 3).abs()
    out = loss(x, target)
    note(repr(loss), out)
    out.sum().backward()
    note(x.grad)


def test_classes(L, note):
    x, y = constant(L, 4, 3).requires_grad_(), L.tensor([0, 2, 1, -100])
    weight = L.tensor([1.0, 2.0, 0.5])
    for loss in (
        L.nn.CrossEntropyLoss(),
        L.nn.CrossEntropyLoss(weight=weight, label_smoothing=0.1),
        L.nn.CrossEntropyLoss(reduction="sum", ignore_index=2),
        L.nn.NLLLoss(weight=weight),
    ):
        target = y if loss.ignore_index == -100 else L.tensor([0, 2, 1, 1])
        out = loss(x, target)
        note(repr(loss), out, list(loss.state_dict()))
        x.grad = None
        out.backward()
        note(x.grad)
    note(L.nn.CrossEntropyLoss()(x, constant(L, 4, 3).softmax(1)))
    note(L.nn.BCELoss()(x.sigmoid(), constant(L, 4, 3).abs()))
    note(L.nn.BCEWithLogitsLoss(pos_weight=weight)(x, constant(L, 4, 3).abs()))


def test_pairs(L, note):
    a, b, c = (
        constant(L, 2, 3),
        constant(L, 2, 3) * 2 + 0.1,
        constant(L, 2, 3).cos(),
    )
    y = L.tensor([1.0, -1.0])
    note(L.nn.CosineEmbeddingLoss(margin=0.2)(a, b, y), L.nn.TripletMarginLoss()(a, b, c))
    note(L.nn.MarginRankingLoss(margin=0.1)(a[:, 0], b[:, 0], y))


def test_embeddings(L, note):
    L.manual_seed(0)
    table = L.nn.Embedding(5, 3, padding_idx=1)
    note(repr(table), table.weight)
    out = table(L.tensor([[0, 1], [4, 0]]))
    note(out)
    out.sum().backward()
    note(table.weight.grad)


def test_first_numbers(L, note):
    L.manual_seed(1)
    init = L.nn.init
    for fill in (
        init.xavier_uniform_, init.xavier_normal_, init.kaiming_uniform_, init.kaiming_normal_, init.uniform_,
        init.normal_, init.ones_, init.zeros_, init.eye_, init.trunc_normal_,
    ):  # fmt: skip
        note(fill.__name__, fill(L.empty(4, 5)), fill(L.nn.Parameter(L.empty(3, 6))))
    for size in ((4, 3), (3, 2, 2), (3, 3)):
        note((init.orthogonal_(L.empty(size), gain=2.0) * 1000).round())
    note(
        init.constant_(L.empty(2), 3.0),
        init.kaiming_normal_(L.empty(2, 3, 2), mode="fan_out", nonlinearity="relu"),
    )
    note(
        [
            init.calculate_gain(n)
            for n in ("linear", "relu", "tanh", "sigmoid", "selu", "leaky_relu", "conv2d")
        ]
    )


def test_clipping(L, note):
    params = [
        L.nn.Parameter(L.tensor([3.0, 4.0])),
        L.nn.Parameter(L.tensor([[12.0]])),
        L.nn.Parameter(L.ones(1)),
    ]
    for norm in (2.0, 1, float("inf")):
        params[0].grad, params[1].grad = L.tensor([3.0, 4.0]), L.tensor([[12.0]])
        note(L.nn.utils.clip_grad_norm_(params, 1.0, norm_type=norm), params[0].grad, params[1].grad)
    L.nn.utils.clip_grad_value_(params, 0.05)
    note(params[0].grad, params[1].grad, L.nn.utils.clip_grad_norm_([], 1.0))
    vector = L.nn.utils.parameters_to_vector(params)
    note(vector)
    L.nn.utils.vector_to_parameters(vector * 2, params)
    note(*params)


REFUSED = """
nn.BatchNorm1d(3)(L.ones(3)) | nn.BatchNorm2d(3)(L.ones(2, 3)) | nn.Dropout(2) | nn.GroupNorm(2, 3)
nn.init.calculate_gain("x") | nn.init.eye_(L.empty(3)) | nn.init.xavier_uniform_(L.empty(3))
nn.init.kaiming_uniform_(L.empty(3, 3), mode="x") | nn.init.orthogonal_(L.empty(3))
nn.TripletMarginLoss(margin=0) | nn.Embedding(4, 2, padding_idx=4) | nn.EmbeddingBag(4, 2, padding_idx=-5)
nn.Embedding(4, 3, _weight=L.ones(4, 2)) | nn.Embedding.from_pretrained(L.ones(2))
"""


def test_what_is_refused(torch):
    assert_same_ends(torch, REFUSED)


def test_inputs_may_be_given_by_name():
    x, y = minigrad.tensor([[-1.0, 2.0]]), minigrad.tensor([[0.0, 1.0]])
    assert minigrad.nn.ReLU()(input=x).tolist() == [[0.0, 2.0]]
    assert minigrad.nn.MSELoss()(input=x, target=y).item() == 1.0
    assert minigrad.nn.TripletMarginLoss()(anchor=x, positive=x, negative=x + 9).item() == 0.0
    assert minigrad.nn.CosineSimilarity()(x1=x, x2=x).item() == pytest.approx(1.0)


NO_TENSORS = """
nn.AdaptiveMaxPool2d(2)(w) | nn.Dropout1d()(w) | nn.Dropout2d()(w) | nn.EmbeddingBag(4, 2)(w)
nn.LocalResponseNorm(2)(w) | nn.LogSigmoid()(w) | nn.LogSoftmax()(w) | nn.RMSNorm(2)(w) | nn.SELU()(w)
nn.Softmax()(w) | nn.Softmin()(w) | nn.Tanh()(w)
"""


@pytest.mark.parametrize("wrong", [(1,), None, 3.0, "a", [1.0]], ids=str)
def test_what_is_no_tensor_is_refused_as_in_pytorch(torch, wrong):
    assert_same_ends(torch, NO_TENSORS, lambda L: {"w": wrong})


@pytest.mark.parametrize("layer", ["Linear", "Conv1d", "BatchNorm1d", "Embedding", "GRU", "LSTMCell"])
def test_a_layer_on_another_device_is_refused(layer):
    with pytest.raises(RuntimeError, match="minigrad runs on the CPU only; device 'cuda'"):
        getattr(minigrad.nn, layer)(
            *(3, 3, 1)[: 1 if layer == "BatchNorm1d" else 3 if "Conv" in layer else 2], device="cuda"
        )
