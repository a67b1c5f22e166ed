"""List the scenarios that minigrad does not reach yet, each with the reason; one that passes must
leave the list.
"""

_SAVES_LESS = {
    "the sum of the weights, which are all 1": (
        "cross_entropy",
        "cross_entropy sum",
        "cross_entropy none",
        "nll_loss",
        "CrossEntropyLoss",
    ),
    "the positions or the mask, as tensors": (
        "max over an axis",
        "x[[0, 2, 2]]",
        "x[[0, 2]] of rows",
        "x[tensor]",
        "x[matrix of indices]",
        "x[[0, 1], [2, 0]]",
        "x[:, tensor]",
        "x[tensor, 1:3]",
        "x[arange, targets]",
        "x[mask]",
        "x[mask of rows]",
        "x[mask of entries]",
        "gather",
    ),
}

NOT_YET: dict[str, str] = {
    "engine.gradient_given_to_backward": (
        "PyTorch lets .grad share memory with a gradient given by the user, if it reaches the leaf "
        "through a view; minigrad copies what somebody else holds"
    ),
    **{
        f"saved_packing.{name}": f"minigrad does not hand this to hooks of saved tensors: {what}"
        for what, names in _SAVES_LESS.items()
        for name in names
    },
}
