"""Hold minigrad against PyTorch 2.13.0: scenarios both run, PyTorch's recorded logs, and the
comparison.
"""
