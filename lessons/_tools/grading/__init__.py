"""Grade learners' notebooks in processes that can hurt nothing, and write tables and pages."""
