"""Check the exercises of the lessons: what is asked, what is right, what is often got wrong."""
