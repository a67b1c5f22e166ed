"""Say a function's signature once; from it come the function, the method and all other forms."""

from minigrad.faces.face import FACES as FACES
from minigrad.faces.face import Face as Face
from minigrad.faces.face import attach as attach
from minigrad.faces.face import entrywise as entrywise
from minigrad.faces.face import face as face
from minigrad.faces.face import functional as functional
