"""Import the package before pytest does, wherever it is told to begin."""

# Told to begin inside the package, pytest would load that part apart from the rest: a second
# generator of random numbers, and `minigrad.autograd.gradcheck` in the place of the function.
import minigrad as minigrad
