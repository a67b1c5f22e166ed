"""Make tensors: of data, of a size, of random numbers; their dtypes and their printed form."""

from minigrad.creation import layout as layout  # attaches methods to Tensor
