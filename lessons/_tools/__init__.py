"""Make, release and check the lesson notebooks; `lessons/AUTHORING.md` says how."""

import sys

# What checks the format of addresses in other languages, which no notebook has, makes a parser of
# its grammar as soon as nbformat is imported: two seconds of each command.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
