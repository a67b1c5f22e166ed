"""Say what random programs of modules with hooks leave out on purpose, each with its reason.

* A text given to or by a module: PyTorch never returns from a legacy hook on such a module. It
  looks for the tensor in the text's first letter, in that one's first letter, and so on.
* A tensor that requires a gradient as a hook's answer to a gradient: PyTorch shows that very tensor
  to the next hooks, also in a pass that is not recorded. In minigrad such a pass computes with
  arrays, so what comes next sees the same numbers in a tensor that requires no gradient.
* A change of a leaf's gradient, in place or by another backward pass, while hooks of its
  accumulate node see it: whether `.grad` shares its memory with what the hooks were given depends
  on how many references PyTorch's C++ holds at that moment.
* Hooks registered after forward on a tensor inside the module, or on a result, in programs that
  change tensors in place: where that made a view invalid, PyTorch raises or not depending on
  whether the tensor had a hook before.
* Shapes that do not fit in programs that change tensors in place: of two errors in one operation,
  the shapes' and that of an invalid view, minigrad raises the other one first.
* A tensor in the place of the arguments, `(tensor, kwargs)` from a forward-pre hook with keywords,
  on a module with full backward hooks: PyTorch stumbles over its own `Tensor(...)`, in other words.
* Transposed tensors that have a dimension of size 1: which of two ways PyTorch's matrix product and
  its derivative go depends on the strides of that dimension, which NumPy does not keep.
* NumPy's warning of an overflow: PyTorch computes infinity without a word. The values are
  compared, the warning is not.
"""
