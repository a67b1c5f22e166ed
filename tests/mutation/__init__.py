"""Plant small bugs in the package, one after the other, and see whether tests notice."""
