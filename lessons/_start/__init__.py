"""What `python3 lessons` and `python3 tests` do before the first lesson or test runs."""
