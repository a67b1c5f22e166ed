"""Make, release and check the lesson notebooks; `lessons/AUTHORING.md` says how."""
