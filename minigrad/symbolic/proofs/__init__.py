"""Prove backward rules: `prove` runs them on symbols and compares with SymPy's derivative.

The way through these files: `operations` finds what is to be proved, and `borrowing` lends it
symbols that nobody else has; `running` runs it on these, and `hearing` compares region by region.
`trial` runs it on numbers, `witness` at points of all regions: nothing is proved or refuted that
these do not show. `evidence` is what comes of it, to be read.
"""
