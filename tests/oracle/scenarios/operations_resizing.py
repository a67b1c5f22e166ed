"""See signals, images and volumes resized, and channels moved into space."""

from __future__ import annotations

from .tools_operations import add_all, operation

LINE, PLANE, VOLUME = (1, 2, 4), (1, 1, 3, 2), (1, 1, 2, 3, 2)


def resize(**settings):
    return lambda t, x: t.nn.functional.interpolate(x, **settings)


def row(shape, **settings):
    return operation(resize(**settings), shape, dtypes=())


TABLE = {
    "nearest line": row(LINE, scale_factor=1.5),
    "nearest": operation(
        resize(scale_factor=2),
        PLANE,
        dtypes=("float16", "uint8", "int64"),
        wrong={
            "nothing": lambda t, x: t.nn.functional.interpolate(x),
            "both": lambda t, x: t.nn.functional.interpolate(x, 2, 2),
            "sizes": lambda t, x: t.nn.functional.interpolate(x, (2, 2, 2)),
            "scales": lambda t, x: t.nn.functional.interpolate(x, scale_factor=(2, 2, 2)),
            "mode": lambda t, x: t.nn.functional.interpolate(x, 2, mode="cubic"),
            "linear": lambda t, x: t.nn.functional.interpolate(x, 2, mode="linear"),
            "corners": lambda t, x: t.nn.functional.interpolate(x, 2, align_corners=True),
            "too small": lambda t, x: t.nn.functional.interpolate(x, scale_factor=0.1),
            "dimensions": lambda t, x: t.nn.functional.interpolate(x[0, 0], 2),
        },
    ),
    "nearest volume": row(VOLUME, size=(3, 2, 3)),
    "nearest-exact line": row(LINE, size=3, mode="nearest-exact"),
    "nearest-exact": row(PLANE, size=(2, 5), mode="nearest-exact"),
    "nearest-exact volume": row(VOLUME, size=3, mode="nearest-exact"),
    "linear": row(LINE, scale_factor=1.7, mode="linear"),
    "linear, scale computed anew": row(
        LINE, scale_factor=1.7, mode="linear", recompute_scale_factor=True
    ),
    "bilinear": row(PLANE, size=(4, 4), mode="bilinear"),
    "bilinear, aligned": row(PLANE, size=(4, 4), mode="bilinear", align_corners=True),
    "bicubic": operation(
        resize(size=(4, 5), mode="bicubic"),
        PLANE,
        dtypes=("int64", "complex64"),
        wrong={
            "a line": lambda t, x: t.nn.functional.interpolate(x[0], 2, mode="bicubic"),
        },
    ),
    "bicubic, aligned": row(PLANE, size=(4, 3), mode="bicubic", align_corners=True),
    "bicubic by a scale": row(PLANE, scale_factor=(1.6, 0.7), mode="bicubic"),
    "trilinear": row(VOLUME, size=(3, 2, 3), mode="trilinear"),
    "area": row(PLANE, size=(2, 3), mode="area"),
    "channel_shuffle": operation(
        lambda t, x: t.nn.functional.channel_shuffle(x, 2),
        (1, 6, 2),
        wrong={
            "channels": lambda t, x: t.nn.functional.channel_shuffle(x, 4),
            "groups": lambda t, x: t.nn.functional.channel_shuffle(x, 0),
        },
    ),
    "pixel_shuffle": operation(
        lambda t, x: t.nn.functional.pixel_shuffle(x, 2),
        (1, 4, 2, 2),
        dtypes=("int64", "bool"),
        wrong={
            "channels": lambda t, x: t.nn.functional.pixel_shuffle(x, 3),
            "dimensions": lambda t, x: t.nn.functional.pixel_shuffle(x[0, 0], 2),
            "factor": lambda t, x: t.nn.functional.pixel_shuffle(x, 0),
        },
    ),
}

family = add_all(TABLE)
