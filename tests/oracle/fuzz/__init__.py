"""Make random programs, run each on torch and on minigrad, and shrink those that differ."""
