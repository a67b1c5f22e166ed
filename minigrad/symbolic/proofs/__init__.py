"""Prove backward rules: `prove` runs them on symbols and compares with SymPy's derivative.

The way through these files: `claims` finds what is to be proved, lends it symbols that nobody else
has, runs it on these, and compares region by region. `trial` runs it on numbers at points of all
regions: nothing is proved or refuted that these do not show. `conclusion` puts both together,
`verdict` leads from one to the other. `proof` is what comes of it, to be read.
"""
