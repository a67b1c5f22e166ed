"""Make tensors: of data, of a size, of random numbers; their dtypes and their printed form."""

# these attach methods to Tensor
from minigrad.creation import layout as layout
from minigrad.creation import memory as memory
