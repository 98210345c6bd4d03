"""Which module of `ops` declares which ops: an entry per module and a word per op.

Also modules without ops have an entry: whatever ops import is loaded under one lock (see `later`).
"""

from __future__ import annotations

INDEX = {
    "activations": """
    elu elu_ celu celu_ elu_backward leaky_relu leaky_relu_ leaky_relu_backward _prelu_kernel
    _prelu_kernel_backward
    """,
    "adaptive": """
    _adaptive_avg_pool2d _adaptive_avg_pool3d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward
    """,
    "affine_grids": "affine_grid_generator affine_grid_generator_backward",
    "arithmetic": """
    add add_scaled add_scalar sub sub_scaled sub_scalar rsub mul mul_scalar div div_scalar neg reciprocal
    """,
    "attention": "_safe_softmax",
    "bags": "embedding_bag _embedding_bag_backward _embedding_bag_per_sample_weights_backward",
    "batches": "native_batch_norm native_batch_norm_backward native_group_norm",
    "binary": """
    rsub_tensor rsub_tensor_scaled rsub_scaled atan2 hypot copysign copysign_number heaviside ldexp
    logaddexp logaddexp2
    """,
    "bits": """
    bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift logical_or logical_xor
    """,
    "bounds": """
    maximum minimum fmax fmin clamp clamp_numbers clamp_max clamp_max_tensor clamp_min clamp_min_tensor
    """,
    "chance": """
    uniform normal random random_to random_from exponential bernoulli bernoulli_tensor bernoulli_float
    normal_tensor_float normal_float_tensor normal_tensor_tensor multinomial
    """,
    "circular": "acos asin atan acosh asinh atanh tan sinh cosh sinc deg2rad rad2deg",
    "class_losses": "nll_loss_forward nll_loss2d_forward nll_loss_backward nll_loss2d_backward",
    "comparing": """
    eq_by_number_ eq_by_tensor_ ne_by_number_ ne_by_tensor_ lt_by_number_ lt_by_tensor_ le_by_number_
    le_by_tensor_ gt_by_number_ gt_by_tensor_ ge_by_number_ ge_by_tensor_ isclose isin
    """,
    "complexes": """
    conj_view conj neg_view real_view view_as_real view_as_complex real imag resolve_conj resolve_neg
    physical_conjugate conj_physical zero_of angle complex_of polar complex
    """,
    "convolution": "convolution convolution_backward",
    "convolution_checks": "",
    "copies": "clone copy to zeros_like ones_like fill fill_tensor zero",
    "counting": "all any count_nonzero bincount histogram histc on_diagonal trace",
    "cumulative": "cumsum has_zero cumprod cummax cummin",
    "distances": "norm_dim _cdist_forward _cdist_backward _euclidean_dist",
    "division": """
    div_rounded div_unrounded fmod fmod_number remainder remainder_number remainder_of_number floor_divide
    gcd lcm
    """,
    "eigen": "_linalg_eig",
    "elementwise": "",
    "elimination": "",
    "embedding": "embedding embedding_dense_backward embedding_renorm one_hot",
    "entropies": "binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits",
    "error_function": "",
    "exponential": "exp2 expm1 log1p log10 log2 rsqrt logit",
    "extremes": "count_in evenly_backward amax amin aminmax max_all min_all max_dim min_dim argmax argmin",
    "factors": "off_diagonal linalg_cholesky_ex linalg_qr _linalg_eigh _linalg_svd linalg_pinv",
    "grid_sampling": """
    grid_seen grid_spread grid_sampler_2d_backward grid_sampler_2d grid_sampler_3d_backward
    grid_sampler_3d
    """,
    "grid_taps": "",
    "halves": "",
    "hard": """
    hardtanh hardtanh_backward threshold threshold_ hardshrink hardshrink_backward softshrink
    softshrink_backward hardsigmoid hardsigmoid_backward hardswish hardswish_backward
    """,
    "indexing": "select select_backward slice slice_backward as_strided put_strided",
    "indexing_along": "index_select index_add index_copy index_fill index_fill_tensor",
    "inverses": "linalg_inv_ex inverse_of cofactors _linalg_det _linalg_slogdet _linalg_solve_ex",
    "joining": """
    cat stack zeros_of unbind split_evenly split_with_sizes unsafe_split unsafe_split_with_sizes split
    """,
    "least_squares": "linalg_lstsq",
    "linalg": "dot vdot mv mm bmm outer",
    "losses": """
    mse_loss mse_loss_backward smooth_l1_loss smooth_l1_loss_backward huber_loss huber_loss_backward
    """,
    "masking": "masked_fill masked_fill_tensor masked_select masked_scatter masked_scatter_backward nonzero",
    "matrix_sums": "addmm addmv addr baddbmm _trilinear linalg_cross",
    "normal": "erf erfc erfinv",
    "normalisation": "native_layer_norm native_layer_norm_backward",
    "norms": "linalg_vector_norm dist",
    "order": "median_all nanmedian_all median_dim nanmedian_dim kthvalue",
    "packing": "_pack_padded_sequence _pack_padded_sequence_backward _packed_elements",
    "padding": """
    constant_pad_nd reflection_pad1d reflection_pad1d_backward reflection_pad2d reflection_pad2d_backward
    reflection_pad3d reflection_pad3d_backward replication_pad1d replication_pad1d_backward
    replication_pad2d replication_pad2d_backward replication_pad3d replication_pad3d_backward
    """,
    "picking": "index index_put index_put_impl take put",
    "places": "into_zeros",
    "pointwise": """
    exp log sqrt sin cos abs sgn sign tanh tanh_backward tanh_backward_conj sigmoid sigmoid_backward
    sigmoid_backward_conj relu threshold_backward where eq ne lt le gt ge logical_and logical_not
    bitwise_not
    """,
    "pooling": """
    max_pool2d_with_indices max_pool3d_with_indices max_pool2d_with_indices_backward
    max_pool3d_with_indices_backward
    """,
    "pooling_greatest": "",
    "pooling_means": "avg_pool2d avg_pool3d avg_pool2d_backward avg_pool3d_backward",
    "pooling_parts": """
    adaptive_max_pool2d_backward adaptive_max_pool2d adaptive_max_pool3d_backward adaptive_max_pool3d
    """,
    "powers": "pow_scalar pow_tensor pow_base",
    "rearranging": "flip roll rot90 repeat tril triu pixel_shuffle pixel_unshuffle channel_shuffle",
    "reduction": "sum_all sum_dim mean_all mean_dim like nansum prod_backward prod_all prod_dim",
    "reduction_jvps": "",
    "resampling": """
    upsample_nearest1d upsample_nearest1d_backward _upsample_nearest_exact1d
    _upsample_nearest_exact1d_backward upsample_nearest2d upsample_nearest2d_backward
    _upsample_nearest_exact2d _upsample_nearest_exact2d_backward upsample_nearest3d
    upsample_nearest3d_backward _upsample_nearest_exact3d _upsample_nearest_exact3d_backward
    upsample_linear1d upsample_linear1d_backward upsample_bilinear2d upsample_bilinear2d_backward
    upsample_trilinear3d upsample_trilinear3d_backward
    """,
    "rounding": """
    ceil floor trunc round_whole round_decimals frac round nan_to_num isfinite isinf isnan isposinf
    isneginf isreal signbit
    """,
    "scattering": "gather scatter_src scatter_value scatter scatter_add scatter_with scatter_value_with",
    "shape": """
    view reshape_alias unsafe_view reshape expand sum_to contiguous permute t transpose unsqueeze
    squeeze_dim squeeze_result squeeze_all alias fw_primal
    """,
    "sliding": "",
    "smooth": """
    gelu gelu_backward silu mish softplus softplus_backward log_sigmoid_forward log_sigmoid_backward glu
    glu_backward
    """,
    "softmax": "softmax log_softmax _softmax_backward_data _log_softmax_backward_data",
    "sorting": "sort sort_stable topk unique2 unique_dim search",
    "special": "i0 special_i0e special_i1 special_i1e lgamma digamma polygamma_of polygamma igamma igammac",
    "spectral": "_fft_c2c with_zeros _fft_r2c doubled _fft_c2r",
    "spread": "var std var_mean std_mean logsumexp",
    "strided": "as_strided_backward",
    "ternary": "addcmul addcdiv lerp lerp_tensor",
    "triangular": "linalg_solve_triangular cholesky cholesky_solve",
    "underivable": "",
    "views": "diagonal diagonal_copy diagonal_backward diag_embed unfold unfold_backward squeeze_dims",
    "views_in_place": "t_ transpose_ unsqueeze_ squeeze_ squeeze_dims_ as_strided_",
    "windows": "im2col col2im",
    "xlogy": "xlogy xlogy_of_number xlogy_by_number",
}  # fmt: skip
