"""Say a function's signature once; from it come the function, the method and all other forms."""

from minigrad.faces.face import FACES, Face, attach, entrywise, face, functional
