"""Search for differences from PyTorch in random programs: `python3 tests --search`."""
