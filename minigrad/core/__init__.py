"""The heart: what records a computation and runs it backward. NumPy and Python, nothing else.

Whoever has done lessons 00 to 07 has built most of this once. Read it in seven steps:

1.  `node`: what one operation leaves behind, the edges along which gradients go, the hooks that may
    sit on a node and the order in which they are called; at its end, broadcasting undone.
2.  `modes`: the few things that an operation looks at before it records itself.
3.  `tensor`: an array that knows its edge. How it is asked for its `grad_fn` and its hooks; what a
    view remembers; how a node keeps what its rule will need, and notices that it was changed.
4.  `leaves`: where the graph ends, and what arrives is added to `.grad`.
5.  `tape`: from a forward and its rules, the function that records itself. Print one:
    `print(minigrad.ops.elementwise.mul.write())`.
6.  `engine`: the loop behind `loss.backward()`. Begin at its end, with `Backward.backward`, then
    `run_backward`, then `GraphTask.run`; `_run_attended` is for nodes that have hooks.
7.  `gates`: full and legacy module hooks, and why they see different gradients.

`plugs` lists the places at which everything else joins in: operations, views and in-place changes,
custom functions, saved-tensor hooks, anomaly mode, PyTorch's words for what went wrong.
"""
