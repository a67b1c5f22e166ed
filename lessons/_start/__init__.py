"""What `python lessons` and `python tests` do before the first lesson or test runs."""
