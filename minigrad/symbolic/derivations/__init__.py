"""Tell a backward pass as people do at a blackboard: `derive` on symbols, `explain` on numbers.

The way through these files: `passage` reads a recorded pass; `hooks` says what each hook did;
`nodes` asks a node's own rule for its formula; `places` gives values names; `account` retells the
pass in them; `pages` lays out the lines, `blackboard` writes them as text or LaTeX; `check` proves
what is told.
"""
