"""The heart: what records a computation and runs it backward. NumPy and Python, nothing else.

Whoever has done lessons 00 to 07 has built most of this once. Read it in ten steps:

1.  `node`: what one operation leaves behind, and the edges along which gradients go.
2.  `hooks`: the hooks that may sit on a node, the order in which they are called, and handles.
3.  `modes`: the few things that an operation looks at before it records itself.
4.  `tensor`: an array that knows its edge. How it is asked for its `grad_fn` and its hooks; what a
    view remembers.
5.  `saved`: how a node keeps what its rule will need, and notices that it was changed.
6.  `leaves`: where the graph ends, and what arrives is added to `.grad`.
7.  `tape`: from a forward and its rules, the function that records itself. Print one:
    `print(minigrad.ops.elementwise.mul.write())`.
8.  `reduce`: broadcasting undone, after the rule.
9.  `engine`: the loop behind `loss.backward()`. Begin at its end, with `Backward.backward`, then
    `run_backward`, then `GraphTask.run`; `_run_attended` is for nodes that have hooks.
10. `gates`: full and legacy module hooks, and why they see different gradients.

`plugs` lists the places at which everything else joins in: operations, views and in-place changes,
custom functions, saved-tensor hooks, anomaly mode, PyTorch's words for what went wrong.
"""
