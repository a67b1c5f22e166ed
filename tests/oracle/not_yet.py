"""List the scenarios that minigrad does not reach yet, each with the reason; one that passes must
leave the list.
"""

NOT_YET: dict[str, str] = {}
