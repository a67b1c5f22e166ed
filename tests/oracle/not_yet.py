"""List the scenarios that minigrad does not reach yet, each with the reason; one that passes must
leave the list.
"""

NOT_YET: dict[str, str] = {
    "engine.gradient_given_to_backward": (
        "PyTorch lets .grad share memory with a gradient given by the user, if it reaches the leaf "
        "through a view; minigrad copies what somebody else holds"
    ),
}
