"""Convolutions, windows, pooling, resizing, and normalization."""

from __future__ import annotations

from .table import FLOATS, op

NOTHING = ()
ORDER = "which entry it is depends on the numbers; it is proved where that is given"
LINE, PLANE = (2, 2, 5), (1, 2, 4, 4)
STEPS, NONE = "(1, 1)", "(0, 0)"
POOLS = ("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d")


def conv(dims: str, settings: str, *shapes, **more):
    """Describe a convolution: with a bias if it has three inputs."""
    given = "x, y, z" if len(shapes) == 3 else "x, y"
    more.setdefault("dtypes", NOTHING)
    return op("convolution", shapes, f"F.conv{dims}({given}{settings})", **more)


def refused(name: str, given: str):
    """Give calls with settings of a pooling that make no sense."""
    wrong = (
        "0",
        "(2, 2, 2, 2)",
        "2, -1",
        "2, (1, 1, 1, 1)",
        "2, padding=2",
        "2, padding=-1",
        "9",
        "2.5",
    )
    return [f"F.{name}({given}, {each})" for each in wrong] + [f"F.{name}({given}[:, :0], 2)"]


def resized(name: str, sizes: str, bigger: str, mode: str):
    """Describe a resizing by 1.5 and its rule."""
    call = f"F.interpolate({{}}, scale_factor=1.5, mode='{mode}')".format
    rule = f"torch.autograd.grad({call('y')}, y, x, create_graph=True)[0]"
    part = sizes.replace(",", ",:")
    rule = f"(lambda y: {rule})(x[:{part}])"
    shapes = tuple(tuple(map(int, each.split(","))) for each in (sizes, bigger))
    yield op(f"upsample_{name}", shapes[:1], call("x"), dtypes=NOTHING)
    yield op(f"upsample_{name}_backward", shapes[1:], rule, dtypes=NOTHING)


# fmt: off
TABLE = [
    conv("1d", "", LINE, (3, 2, 3), (3,), proof=((1, 1, 3), (2, 1, 2), (2,))),
    conv("1d", ", stride=2, padding=1", LINE, (3, 2, 3), proof=((1, 1, 5), (1, 1, 2))),
    conv("1d", "", (2, 5), (3, 2, 3), (3,), proof=((1, 3), (1, 1, 2), (1,))),
    conv("2d", "", PLANE, (3, 2, 3, 2), (3,), dtypes=FLOATS,
         proof=((1, 1, 2, 2), (1, 1, 2, 2), (1,)),
         faults=[
            f"F.conv2d({each})"
            for each in (
                "x[:, :1], y, z",
                "x[0, 0], y, z",
                "x, y[0], z",
                "x, y, z[:2]",
                "x.double(), y, z",
                "x, y, z.double()",
                "x[..., :1], y, z",
                "x, y, stride=0",
                "x, y, stride=(1, 1, 1)",
                "x, y, padding=-1",
                "x, y, padding='same', stride=2",
                "x, y, groups=2",
                "x, y, groups=0",
            )
        ]),
    conv("2d", ", groups=2, dilation=(1, 2), padding=(1, 2)", PLANE, (4, 1, 2, 2), (4,),
         proof=((1, 2, 1, 2), (2, 1, 1, 2), (2,))),
    conv("2d", ", stride=(1, 2), padding=(0, 1), dilation=(2, 1), groups=2", PLANE, (2, 1, 2, 3),
         proof=((1, 2, 3, 2), (2, 1, 2, 2))),
    conv("2d", ", padding='valid'", PLANE[1:], (3, 2, 3, 2), proof=((1, 2, 2), (1, 1, 2, 2))),
    conv("2d", ", padding='same'", PLANE, (2, 2, 3, 3), proof=((1, 1, 2, 2), (1, 1, 3, 3))),
    op("convolution", (PLANE, (3, 2, 3, 2)), "F.conv2d(x.transpose(2, 3), y)",
       "torch.conv2d(x, y)", dtypes=NOTHING, proof="it is proved above"),
    conv("3d", "", (1, 1, 3, 3, 2), (2, 1, 2, 2, 2), (2,),
         proof="with fewer axes it is proved above"),
    conv("_transpose1d", ", stride=2, output_padding=1, padding=1", (2, 2, 3), (2, 3, 3), (3,),
         proof=((1, 1, 2), (1, 1, 3), (1,))),
    conv("_transpose1d", ", dilation=2, padding=1", (1, 2, 3), (2, 1, 2),
         proof=((1, 1, 2), (1, 1, 2))),
    conv("_transpose2d", "", (1, 2, 3, 2), (2, 3, 2, 2), (3,), dtypes=FLOATS,
         proof=((1, 1, 2, 1), (1, 1, 1, 2), (1,)),
         faults=[
            f"F.conv_transpose2d({each})"
            for each in (
                "x[:, :1], y, z",
                "x, y, z[:2]",
                "x, y, z, output_padding=1",
                "x[..., :1, :1], y, z, padding=1",
                "x, y, z, groups=3",
            )
        ]),
    conv("_transpose2d", ", groups=2, stride=(2, 1), dilation=(1, 2), padding=(1, 0)",
         (1, 2, 3, 2), (2, 2, 2, 2), proof=((1, 2, 2, 1), (2, 1, 1, 2))),
    conv("_transpose3d", "", (1, 2, 2, 2, 1), (2, 1, 2, 1, 2), (1,),
         proof="with fewer axes it is proved above"),
    op("convolution_backward_weight", ((1, 2, 3), (1, 2, 5)),
       "op(x, y, torch.zeros(2, 2, 3).to(x.dtype), (2,), (1,), (1,), False, (0,), 1)",
       proof="shapes for symbols follow"),
    op("convolution_backward_weight", ((1, 2, 4), (1, 4, 3)),
       "op(x, y, torch.zeros(2, 2, 2).to(x.dtype), (1,), (1,), (1,), False, (0,), 2)",
       proof="shapes for symbols follow"),
    op("convolution_backward_weight", ((1, 1, 3), (1, 1, 3), (1, 1, 3)),
       "op(x, y, z, (1,), (1,), (1,), False, (0,), 1)", checked=False),
    op("convolution_backward_weight", ((1, 1, 4), (1, 1, 2), (1, 1, 3)),
       "op(x, y, z, (2,), (1,), (1,), True, (1,), 1)", checked=False),
    op("im2col", (1, 2, 4, 4), "F.unfold(x, (2, 3), padding=1, stride=2, dilation=(2, 1))",
       "F.unfold(x, 2)", dtypes=NOTHING, proof=(1, 1, 3, 2),
       faults=["F.unfold(x, 5)", "F.unfold(x, 0)", "F.unfold(x, (2, 2, 2))",
               "F.unfold(x, 2, stride=0)", "F.unfold(x, 2, padding=-1)"]),
    op("col2im", (1, 4, 6), "F.fold(x, (3, 4), 2)", "F.fold(x, (3, 2), 2, padding=(0, 1))",
       dtypes=NOTHING, faults=["F.fold(x, (3, 3), 2)", "F.fold(x[:, :3], (3, 4), 2)"]),
    # ------------------------------------------------------------ pooling
    op("max_pool2d_with_indices", PLANE, "F.max_pool2d(x, 2)",
       "F.max_pool2d(x[0], 2, 1, dilation=2)",
       "F.max_pool2d(x, (3, 2), (2, 1), 1, ceil_mode=True)",
       "F.max_pool2d(x, 2, return_indices=True)", proof=ORDER,
       dtypes=("float16", "float64", "bool"), faults=refused("max_pool2d", "x")),
    op("max_pool2d_with_indices", LINE, "F.max_pool1d(x, 2)",
       "F.max_pool1d(x[0], 3, 1, 1, 1, True)", "F.max_pool1d(x, 2, return_indices=True)",
       proof=ORDER, dtypes=NOTHING, faults=refused("max_pool1d", "x")),
    op("max_pool3d_with_indices", (1, 3, 2, 3), "F.max_pool3d(x, (1, 1, 2), 1)",
       "F.max_pool3d(x, 2, 1)", dtypes=NOTHING, proof=ORDER),
    op("max_pool2d_with_indices", (1, 1, 3),
       "op(x, (1, 2), (1, 1), (0, 0), (1, 1), False, Chosen(np.array([[[1, 0]]])))"),
    op("max_pool3d_with_indices", (1, 1, 1, 2),
       "op(x, (1, 1, 2), (1, 1, 2), (0, 0, 0), (1, 1, 1), False, Chosen(np.array([[[[0]]]])))"),
    *(
        op(
            f"max_pool{dims}d_with_indices_backward",
            shapes,
            f"op(x, y, {kernel}, {ones}, {zeros}, {ones}, False, Chosen(np.array({chosen})))",
        )
        for dims, shapes, kernel, ones, zeros, chosen in (
            (2, ((1, 2, 2), (1, 3, 3)), "(2, 2)", STEPS, NONE, "[[[3, 2], [1, 0]]]"),
            (2, ((1, 1, 2), (1, 1, 3)), "(1, 2)", STEPS, NONE, "[[[1, 0]]]"),
            (
                3,
                ((1, 2, 1, 2), (1, 2, 2, 3)),
                "(1, 2, 2)",
                "(1, 1, 1)",
                "(0, 0, 0)",
                "[[[[3, 2]], [[0, 1]]]]",
            ),
        )
    ),
    op("max_unpool", (2, 2, 4), "F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)",
       "F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), 2)",
       "F.max_unpool3d(*F.max_pool3d(x[None], (1, 2, 2), return_indices=True), (1, 2, 2))",
       dtypes=NOTHING, proof="which entries are the largest depends on the numbers"),
    op("avg_pool2d", PLANE, "F.avg_pool2d(x, 2)",
       "F.avg_pool2d(x, (3, 2), (2, 1), 1, True, False)",
       "F.avg_pool2d(x[0], 2, divisor_override=3)", "F.avg_pool2d(x, 2, padding=1)",
       dtypes=("float64", "bool"), faults=refused("avg_pool2d", "x"), proof=(1, 1, 3, 2)),
    op("avg_pool1d", LINE, "F.avg_pool1d(x, 2, padding=1)", dtypes=NOTHING,
       faults=refused("avg_pool1d", "x")),
    op("avg_pool3d", (1, 3, 2, 3), "F.avg_pool3d(x, 2, 1)", dtypes=NOTHING),
    op("avg_pool2d_backward", ((1, 2, 2), (1, 3, 3)),
       "op(x, y, (2, 2), (1, 1), (0, 0), False, True, 5)",
       "op(x, y, (2, 2), (2, 2), (1, 1), False, False, None)"),
    op("avg_pool3d_backward", ((1, 2, 1, 2), (1, 2, 2, 3)),
       "op(x, y, (1, 2, 2), (1, 1, 1), (0, 0, 0), False, True, None)"),
    op("adaptive_avg_pool", (2, 3, 4), "F.adaptive_avg_pool1d(x, 2)",
       "F.adaptive_avg_pool2d(x, (2, 2))", "F.adaptive_avg_pool2d(x, (None, 3))",
       "F.adaptive_avg_pool2d(x, 1)", "F.adaptive_avg_pool3d(x[None], 2)", dtypes=NOTHING,
       faults=["F.adaptive_avg_pool1d(x[0, 0], 2)", "F.adaptive_avg_pool2d(x, -1)",
               "F.adaptive_avg_pool2d(x[..., :0], 2)"]),
    op("adaptive_max_pool", (2, 3, 4), "F.adaptive_max_pool1d(x, 2)",
       "F.adaptive_max_pool2d(x, (2, 2))", "F.adaptive_max_pool1d(x[0], 2)",
       "F.adaptive_max_pool2d(x[None], (2, 3), return_indices=True)",
       "F.adaptive_max_pool1d(x, 2, True)", dtypes=NOTHING, proof="it takes long",
       faults=["F.adaptive_max_pool2d(x[0, 0], 2)", "F.adaptive_max_pool2d(x, -1)",
               "F.adaptive_max_pool1d(x[..., :0], 2)"]),
    # ------------------------------------------------------------ resizing
    op("interpolate", (1, 2, 3), "F.interpolate(x, scale_factor=1.5)",
       "F.interpolate(x[None], scale_factor=2)", "F.interpolate(x, 4, mode='nearest-exact')",
       "F.interpolate(x[None], (2, 5), mode='nearest-exact')",
       "F.interpolate(x, scale_factor=1.7, mode='linear')",
       "F.interpolate(x, scale_factor=1.7, mode='linear', recompute_scale_factor=True)",
       "F.interpolate(x[None], (4, 4), mode='bilinear')",
       "F.interpolate(x[None], (4, 4), mode='bilinear', align_corners=True)",
       "F.interpolate(x[None, None], (3, 2, 3), mode='trilinear')",
       "F.interpolate(x[None, None], (3, 2, 4))", "F.interpolate(x[None], 2, mode='area')",
       dtypes=NOTHING,
       faults=[
            f"F.interpolate({each})"
            for each in (
                "x",
                "x, 2, 2",
                "x, (2, 2)",
                "x[0], 2",
                "x, scale_factor=(2, 2)",
                "x, 2, mode='cubic'",
                "x, 2, mode='bilinear'",
                "x, 2, align_corners=True",
                "x, scale_factor=0.1",
                "torch.ones(1, 1, 2).long(), 2",
            )
        ]),
    *(row for name, sizes, bigger, mode in (
        ("nearest1d", "1,1,3", "1,1,4", "nearest"),
        ("nearest2d", "1,1,2,3", "1,1,3,4", "nearest"),
        ("nearest3d", "1,1,1,2,2", "1,1,1,3,3", "nearest"),
        ("nearestexact1d", "1,1,3", "1,1,4", "nearest-exact"),
        ("nearestexact2d", "1,1,2,3", "1,1,3,4", "nearest-exact"),
        ("nearestexact3d", "1,1,1,2,2", "1,1,1,3,3", "nearest-exact"),
        ("linear1d", "1,1,3", "1,1,4", "linear"),
        ("bilinear2d", "1,1,2,3", "1,1,3,4", "bilinear"),
        ("trilinear3d", "1,1,1,2,2", "1,1,1,3,3", "trilinear"),
    ) for row in resized(name, sizes, bigger, mode)),
    op("pixel_shuffle", (1, 4, 1, 2), "F.pixel_shuffle(x, 2)", "F.pixel_shuffle(x[0], 2)",
          dtypes=("int64",),
       faults=["F.pixel_shuffle(x, 3)"]),
    # ------------------------------------------------------------ normalization
    op("native_batch_norm", ((2, 3, 2), (3,), (3,)), "F.batch_norm(x, None, None, y, z, True)",
       "F.batch_norm(x[..., 0], None, None, training=True, eps=0.5)",
       "F.batch_norm(x, n(1, -0.5, 0), n(2, 0.5, 1), y, z)",
       "F.batch_norm(x, n(1, -0.5, 0), n(2, 0.5, 1), y, z, True, 0.5)", dtypes=NOTHING,
       proof="layers of one channel are proved below",
       faults=[
            f"F.batch_norm({each})"
            for each in (
                "x[:1, :, 0], n(0, 0, 0), n(1, 1, 1), training=True",
                "x, None, None",
                "x, torch.zeros(4), n(1, 1, 1)",
                "x, n(1, 1, 1), torch.zeros(4)",
                "x, n(1, 1, 1), n(1, 1, 1), torch.zeros(4)",
                "x.double(), n(1, 1, 1), n(1, 1, 1)",
                "x, n(1, 1, 1), None, training=True",
            )
        ]),
    op("native_batch_norm", ((3, 1), (1,), (1,)), "F.batch_norm(x, None, None, y, z, True)",
       dtypes=NOTHING),
    op("native_layer_norm", ((2, 4, 3), (3,), (3,)), "F.layer_norm(x, (3,), y, z)",
       "F.layer_norm(x, [4, 3], eps=0.25)", dtypes=FLOATS, proof="shorter ones are proved below",
       faults=[
            f"F.layer_norm({each})"
            for each in (
                "x, (4,)",
                "x, (3,), torch.ones(4)",
                "x, (3,), y, torch.ones(4)",
                "x, ()",
                "x, 3",
                "x.double(), (3,), y",
            )
        ]),
    op("native_layer_norm", ((2, 2), (2,), (2,)), "F.layer_norm(x, (2,), y, z)", dtypes=NOTHING),
    op("native_group_norm", ((2, 4, 3), (4,), (4,)), "F.group_norm(x, 2, y, z, 0.5)",
       "F.group_norm(x, 4, eps=0.5)", dtypes=NOTHING, proof="smaller ones are proved below",
       faults=["F.group_norm(x, 3)", "F.group_norm(x, -2)", "F.group_norm(x, 2, torch.ones(3))",
               "F.group_norm(torch.zeros(1, 2), 2)"]),
    op("native_group_norm", ((1, 2, 2), (2,), (2,)), "F.group_norm(x, 1, y, z)", dtypes=NOTHING,
       proof=((1, 2, 1), (2,), (2,))),
    op("instance_norm", ((2, 4, 3), (4,), (4,)), "F.instance_norm(x, weight=y, bias=z)",
       "F.instance_norm(x, eps=0.5)",
       "F.instance_norm(x, n(0, 0, 0, 0), n(1, 1, 1, 1), momentum=0.25)", dtypes=NOTHING,
       proof="it is a batch norm, which is proved above",
       faults=["F.instance_norm(x, n(1, 1, 1, 1), None)",
               "F.instance_norm(x, use_input_stats=False)"]),
    op("rms_norm", ((2, 4, 3), (3,)), "F.rms_norm(x, (3,), y)", "F.rms_norm(x, (4, 3), eps=0.5)",
       dtypes=("float64", "int64"), proof="it takes long",
       faults=["F.rms_norm(x, (4,))", "F.rms_norm(x, (4, 3), y)", "F.rms_norm(x, ())"]),
    op("normalize", (2, 4, 3), "F.normalize(x)", "F.normalize(x, p=1.0, dim=(0, 2))",
       dtypes=("float64", "int64"), proof="it is a quotient, which is proved"),
]
# fmt: on
