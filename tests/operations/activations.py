"""Activation functions, softmax, dropout without chance, and their rules."""

from __future__ import annotations

from .table import FLOATS, E, M, op

REFUSED = ("relu6", "hardswish", "silu", "elu", "leaky_relu")


def act(name: str, *calls: str, **more):
    """Describe an activation whose layer may be named too."""
    more.setdefault("dtypes", (*FLOATS, "bool"))
    return op(name, E, *calls, **more)


# fmt: off
TABLE = [
    act("relu", "F.relu(x)", "x.relu()", "F.relu(x * 1, inplace=True)", "F.relu_(x * 1)"),
    act("hardtanh", "F.hardtanh(x, -0.5, 1.0)", "F.relu6(x)",
        faults=["F.hardtanh(x, 1.0, -1.0)", "F.relu6(None)"], edges=False, dtypes=FLOATS),
    act("hardtanh_in_place", "F.hardtanh(x * 1, -0.5, 1.0, inplace=True)", "F.hardtanh_(x * 1)",
        "F.relu6(x * 4, inplace=True)", edges=False),
    act("hardsigmoid", "F.hardsigmoid(x * 3)", "F.hardsigmoid(x * 3, inplace=True)", twice=False),
    act("hardswish", "F.hardswish(x * 3)", "F.hardswish(x * 3, inplace=True)"),
    act("hardshrink", "F.hardshrink(x, 0.25)", "nn.Hardshrink(0.5)(x)"),
    act("softshrink", "F.softshrink(x, 0.25)", "nn.Softshrink()(x)",
    faults=["F.softshrink(x, -1)"]),
    act("mish", "F.mish(x)", "F.mish(x * 1, inplace=True)"),
    act("threshold", "F.threshold(x, 0.25, 7)", "torch.threshold(x, 0.5, 1)"),
    act("threshold_in_place", "F.threshold(x * 1, 0.25, 7, inplace=True)",
        "torch.threshold_(x * 1, 0.25, 7)"),
    act("leaky_relu", "F.leaky_relu(x, 0.25)", "F.leaky_relu(x)"),
    act("leaky_relu_in_place", "F.leaky_relu(x * 1, 0.25, inplace=True)", "F.leaky_relu_(x * 1)",
        faults=["F.leaky_relu_(x * 1, -2.0).sum().backward()", "F.leaky_relu_(x)"]),
    act("scaled_elu", "F.elu(x, 0.5)", "F.elu(x)", "torch.selu(x)", "F.selu(x)"),
    act("scaled_elu_in_place", "F.elu(x * 1, 0.5, inplace=True)", "F.elu_(x * 1)",
        "torch.selu_(x * 1)", "F.selu(x * 1, True)",
        faults=["F.elu_(x * 1, -2.0).sum().backward()", "F.elu_(x)"],
        proof="its rule looks at the sign of the result, exp(x) - 1, and SymPy does not tell "
              "that of x"),
    act("celu", "torch.celu(x, 1.5)", "F.celu(x)", faults=["torch.celu(x, alpha=0.0)"]),
    act("celu_in_place", "torch.celu_(x * 1, alpha=0.5)", "F.celu(x * 1, inplace=True)",
        proof="its rule looks at the sign of the result, exp(x) - 1, and SymPy does not tell "
              "that of x"),
    act("gelu", "F.gelu(x)", "F.gelu(x, approximate='tanh')", edges=False,
        faults=["F.gelu(x, approximate='x')"]),
    act("silu", "F.silu(x)", "F.silu(x * 1, inplace=True)"),
    act("log_sigmoid", "F.logsigmoid(x)"),
    act("compositions", "F.tanhshrink(x)", "F.softsign(x)",
        "nn.Sequential(nn.Tanh(), nn.Sigmoid())(x)"),
    op("prelu_kernel", ((3, 2), (2,)), "torch.prelu(x, y)", "F.prelu(x, y)", dtypes=(),
       faults=["torch.prelu(x, torch.ones(3))", "torch.prelu(x, torch.ones(1, 2))",
               "torch.prelu(x, y.double())", "torch.prelu(torch.tensor(1.0), y)",
               "torch.prelu(x, 0.25)"]),
    op("prelu_kernel", (E, (1,)), "torch.prelu(x, y)", dtypes=(), proof=((2,), (1,))),
    op("prelu_kernel", (M, ()), "torch.prelu(x, y)", dtypes=(), proof=((2,), ())),
    op("glu", (2, 4), "F.glu(x)", "F.glu(x, 0)", "nn.GLU(1)(x)", dtypes=(),
       faults=["F.glu(x[0, :3])", "F.glu(x[0, 0])"]),
    # ------------------------------------------------------------ softmax
    op("softmax", M, "torch.softmax(x, 0)", "x.softmax(1)", "F.softmax(x, dim=-1)",
       "F.softmin(x, 1)", proof=(2, 2), faults=["torch.softmax(x, dim=2)"]),
    op("softmax of a number", (), "x.softmax(0)", "x.log_softmax(-1)", dtypes=()),
    op("softmax by hand", M, "x.exp() / x.exp().sum(1, keepdim=True)", dtypes=(), proof=(1, 2)),
    op("log_softmax", M, "torch.log_softmax(x, 1)", "F.log_softmax(x, dim=0)", proof=(2, 2)),
    op("logsumexp", M, "x.logsumexp(1)", "torch.logsumexp(x, (0, 1), True)", proof=(2, 2)),
    op("safe_softmax", M, "op(x, 1)", proof=(2, 2)),
    op("attention", ((2, 3, 4), (2, 5, 4), (2, 5, 3)), "F.scaled_dot_product_attention(x, y, z)",
       "F.scaled_dot_product_attention(x, y, z, is_causal=True)",
       "F.scaled_dot_product_attention(x[0], y[0], z[0], scale=0.3)",
       "F.scaled_dot_product_attention(x, y, z, n(-2.0, 1, 0, 0.5, -inf))",
       "F.scaled_dot_product_attention(x, y, z, torch.arange(15).view(3, 5) % 4 > 1)",
       "F.scaled_dot_product_attention(x, y, z, torch.arange(15).view(3, 5) > 4)",
       dtypes=("float64",), proof=((1, 2), (2, 2), (2, 1)),
       faults=["F.scaled_dot_product_attention(x, y.double(), z)",
               "F.scaled_dot_product_attention(x, y, z, attn_mask=torch.zeros(3, 5).double())"]),
    op("attention of heads", ((1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4)),
       "F.scaled_dot_product_attention(x, y, z)",
       "F.scaled_dot_product_attention(x, y, z, is_causal=True)",
       "F.scaled_dot_product_attention(x, y, z, torch.arange(9).view(3, 3) > 2)", dtypes=(),
       proof="with fewer axes it is proved above", twice=False),
    # ------------------------------------------------------------ dropout
    op("dropout", (1, 3, 4), "F.dropout(x, 0.4, True)", "F.dropout1d(x, 0.4, True)",
       "F.dropout(x, 0.0, True)", "F.dropout(x, 1.0, True)", "F.dropout(x, 0.5, False) * 1",
       "F.dropout(x * 1, 1.0, True, True)", "torch.native_dropout(x, 0.4, True)",
       "torch.native_dropout(x, 0.4, False)", dtypes=("float64",), proof="it is random",
       faults=["F.dropout(x, 2.0)", "F.dropout1d(torch.ones(2))",
               "F.dropout(torch.tensor([1, 2]))", "nn.Dropout(1.5)"]),
    # ------------------------------------------------------------ rules, differentiated themselves
    op("tanh_backward", (E, E), "op(x, y)"),
    op("sigmoid_backward", (E, E), "op(x, y)"),
    op("threshold_backward", (E, E), "op(x, y)", positive=True),
    op("leaky_relu_backward", (E, E), "op(x, y, 0.2)"),
    op("hardtanh_backward", (E, E), "op(x, y, -0.9, 1.1)"),
    op("hardsigmoid_backward", (E, E), "op(x, y)"),
    op("threshold_rule", (E, E), "op(x, y, 0.5)"),
    op("shrink_rule", (E, E), "op(x, y, 0.9)"),
]
# fmt: on
