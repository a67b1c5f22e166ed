"""What courses seldom use of PyTorch: distributions and functions of functions, at its paths."""
