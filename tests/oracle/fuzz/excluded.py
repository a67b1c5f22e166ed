"""Say what random tensor programs leave out on purpose, each with its reason.

* Hooks on a view that was made under `no_grad` of a tensor that requires a gradient: PyTorch
  2.13.0 crashes the whole process (`hook_on`, `hook_after` below raise instead, for both).
* Versions of gradients, and whether they are views: PyTorch adds up gradients in place where it
  happens to hold the only reference, and returns transposed views where a rule ends in one. Neither
  is compared (`_note_given` in `programs.py`), and `detach_()`
  `requires_grad_()` and in-place operations are not called on what `torch.autograd.grad`
  returned.
* A write whose source overlaps it in memory with gaps (`x[:, :1]` into `x`): PyTorch does not
  notice, and what it writes depends on the order in which its loops run.
* A gradient of a wrong shape beside other gradients: PyTorch then fails while it makes up its own
  error message ("Boolean value of Tensor ... is ambiguous").
* A hook after accumulation that changes `.grad` in place, beside hooks on the accumulate node of
  a leaf: whether these see the change depends on whether PyTorch could take the gradient over as
  it is, or had to copy it.
* In-place changes of the gradient that a hook is given, which PyTorch forbids but does not prevent.
* Hooks that start a backward pass through their own tensor: they would call themselves for ever.
* Products of tensors without entries, and of three dimensions some of which have size
  1: which of two ways PyTorch's matmul goes depends on strides that NumPy does not keep.
* A dimension out of range, or without entries, for a view: where the view is invalid too, which
  error comes first depends on the operation.
* NumPy's own warning of infinity minus infinity and the like, which PyTorch never gives: to
  silence it in every sum and product would cost time.
* Programs in which PyTorch says "INTERNAL ASSERT FAILED ... please report a bug to PyTorch" (as
  when a second output of a Function that retains its gradient is changed in place), or "ZeroTensors
  are immutable" (a second derivative that is 0 may come without memory for it), or "Autograd not
  support dtype" (after a tensor that requires a gradient was filled into booleans): a few in ten
  thousand, which count as equal.
* Shapes that do not fit, where an operand is an invalid view too: as above.
* `view`, `reshape`, `flatten` and `contiguous` of a result of several tensors that lie in memory in
  different orders (as `x + x.T`), of expanded ones, or of a gradient: PyTorch takes the order of
  the first one, NumPy prefers the order of printing, and so one may have to copy where the
  other need not.
* In-place changes of a second output of a Function: PyTorch mixes up which output retains its
  gradient.
* Floating-point tensors written to whole numbers or booleans: the latter may then require a
  gradient, and PyTorch is of two minds about that.
* Writes through `.data` of a result, which nobody notices: the rule of relu takes for granted that
  its result is not negative.
* `.data = ...` of a view: what the view is a view of is then unclear.
* Hooks that return `g.detach()`: two results of `torch.autograd.grad` that are the same memory
  are then two tensors, where minigrad gives one.
* `detach_()` of a leaf that was saved, then changed in place by something that requires a gradient:
  PyTorch then says that the saved value was changed, minigrad that it was detached.
* Numbers where PyTorch itself gives others if the numbers that the program starts from change by
  some units in the last place: the sine of a large number, the sign of what should be 0
  (`compare` in `tensor_fuzzing.py`).
* The numbers in "is at version 2; expected version 1": only their difference is compared, as a
  gradient may start with version 1.
* The number in "argument 'other' (position 1) must be Tensor": PyTorch does not count the tensor
  that a method is called on.
* The end of the text "... received an invalid combination of arguments - got ...": it goes on with
  all the C++ signatures of the function.
* Names of nodes, and graphs, in programs of all operations that record gradients with
  `create_graph`: PyTorch has nodes for the derivatives of layers and of second derivatives
  that are compositions here (`compare` in `tensor_fuzzing.py`). Numbers are compared.
* `sort`, `median`, `mode` and their kind of expanded tensors, or of gradients: which of equal
  entries is found depends on the order in memory.
* Results of `out=` that have another shape while views of that tensor are in use: PyTorch resizes
  the memory itself, here the tensor gets a new one.
* Warnings that PyTorch gives once a process.
* Views of results that PyTorch itself gives as views of something without a name (`einsum`).
* The text of an error that is a list of signatures in PyTorch: there only has to be an error.
"""

from __future__ import annotations

from typing import Any


def hook_on(tensor: Any, hook: Any) -> Any:
    """Register a hook on a tensor."""
    _refuse_what_crashes(tensor)
    return tensor.register_hook(hook)


def hook_after(tensor: Any, hook: Any) -> Any:
    """Register a hook on a leaf that runs after accumulation."""
    _refuse_what_crashes(tensor)
    return tensor.register_post_accumulate_grad_hook(hook)


def _refuse_what_crashes(tensor: Any) -> None:
    if not hasattr(tensor, "_is_view") or not tensor._is_view() or not tensor.requires_grad:
        return
    if tensor.is_leaf and tensor._base.requires_grad:
        raise RuntimeError("left out: a hook on a view made under no_grad")
