"""Prove backward rules: `prove` runs them on symbols and compares with SymPy's derivative.

The way through these files: `operations` finds what is to be proved; `running` runs it, in each
order of the entries if it asks for one; `evidence` compares region by region; `reading` says in
words where a proof holds.
"""
