"""Cases for linear algebra: triangles, solutions, determinants, distances."""

square, small = [("x", 2, 2)], [("x", 3, 3)]
system = [*square, ("y", 2, 1)]


def symmetric(p):
    return p + p.mT


CASES = {
    "tril": [(square, (0,)), (small, (1,)), ([("x", 2, 2, 2)], (-1,))],
    "triu": [(square, (0,)), (small, (-1,)), ([("x", 2, 2, 2)], (1,))],
    "trace": [(small, ()), ([("x", 2, 3)], ())],
    "diagonal": [(small, (0, 0, 1)), ([("x", 2, 3, 2)], (1, 0, 2))],
    "diagonal_copy": [(small, (-1, 0, 1))],
    "diagonal_backward": [([("x", 2)], ((3, 3), 1, 0, 1))],
    "diag_embed": [([("x", 2)], (1, 0, 1)), ([("x", 2, 2)], (0, 1, 2))],
    "inv": [(square, ()), (small, ())],
    "solve": [(system, ())],
    "det": [(square, ()), (small, ())],
}

RESERVED = {
    "pinv": "there is no formula for the singular values of symbols",
}
ATTEMPTS = {
    "pinv": ([("x", 2, 2)], (1e-12,)),
}
