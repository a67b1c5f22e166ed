"""Tell a backward pass as people do at a blackboard: `derive` on symbols, `explain` on numbers.

The way through these files: `passage` reads a recorded pass; `effects` says what each hook did;
`local` asks a node's own rule for its formula; `places` gives values names; `account` retells the
pass in them; `page` and `numbers_page` lay out the lines, `blackboard` writes them as text or
LaTeX.
"""
