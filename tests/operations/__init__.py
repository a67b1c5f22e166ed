"""The table of operations: how each is called, on what, and what it refuses."""
