"""Cases for numbers in the place of a tensor, which no gradient passes."""

from minigrad.symbolic import tensor_of

from .regions import vector

DRAWN = tensor_of([0, 1])._array

CASES = {
    name: [(vector, (DRAWN,))]
    for name in (
        "bernoulli",
        "bernoulli_draw",
        "normal_draw",
        "random_draw",
        "uniform_draw",
    )
}
CASES |= {
    name: [([("x", 2), ("y", 2)], (DRAWN,))] for name in ("bernoulli_chances", "normal_of_two")
}
