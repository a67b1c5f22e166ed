"""Say a function's signature once; from it come the function, the method and all other forms."""

from minigrad.signatures.variants import VARIANTS, Variants, attach, entrywise, functional, variants
