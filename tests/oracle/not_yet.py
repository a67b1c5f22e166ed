"""List the scenarios that minigrad does not reach yet, each with the reason; one that passes must
leave the list.
"""

_SAVES_LESS = {
    "the positions or the mask, as tensors": (
        "max_dim",
        "index_select",
        "index",
        "index 8",
        "index 34",
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
