"""The heart: what records a computation and runs it backward. NumPy and Python, nothing else.

Whoever has done lessons 00 to 07 has built most of this once. Read it in ten steps:

1.  `node`, the modes: the few things that an operation looks at before it records itself.
2.  `node`, the hooks: which may sit on a node, in which order they are called, and handles.
3.  `node`, the nodes: what one operation leaves behind, and the edges along which gradients go.
4.  `tensor`: an array that knows its edge. How it is asked for its `grad_fn` and its hooks; what a
    view remembers.
5.  `tensor`, at its end: how a node keeps what its rule will need, and notices that it was changed.
6.  `engine`, the leaves: where the graph ends, and what arrives is added to `.grad`.
7.  `tape`: from a forward and its rules, the function that records itself. Print one:
    `print(minigrad.ops.elementwise.mul.write())`.
8.  `node`, at its end: broadcasting undone, after the rule.
9.  `engine`: the loop behind `loss.backward()`. Begin at its end, with `Backward.backward`, then
    `run_backward`, then `GraphTask.run`; `_run_attended` is for nodes that have hooks.
10. `gates`: full and legacy module hooks, and why they see different gradients.

`plugs` lists the places at which everything else joins in: operations, views and in-place changes,
custom functions, saved-tensor hooks, anomaly mode, PyTorch's words for what went wrong.
"""
