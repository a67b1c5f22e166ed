"""What only makes minigrad faster: with and without it every result is the same, to the last bit.

`MINIGRAD_FAST=0` in the environment leaves it off. Then each operation is interpreted by
`minigrad.core.operation`, and a debugger can follow a backward pass line by line, in files.
"""

import os as _os

on = _os.environ.get("MINIGRAD_FAST", "1") != "0"

if on:
    from minigrad.fast import writer as writer  # before any operation is declared
