"""The operations as one calls them: `torch.sum(x, dim=1)`, `x.sum(1)`; arguments are PyTorch's.

Here arguments are brought into one form; the mathematics stands in the files of the families.
"""
