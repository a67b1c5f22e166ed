"""Tell a backward pass as people do at a blackboard: `derive` on symbols, `explain` on numbers.

The way through these files: `nodes` reads a recorded pass, and asks a node's own rule for its
formula; `hooks` says what each hook did; `places` gives values names; `account` retells the pass in
them; `pages` lays out the lines, `blackboard` writes them as text or LaTeX; `derivation` is what
people call, and proves what is told.
"""
