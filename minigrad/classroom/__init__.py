"""Work through a lesson: predict, compare, check answers, ask for hints, print stable numbers."""

import sys as _sys

from minigrad.classroom import watching as _watching
from minigrad.classroom.behaviors import Function, Hook, Property
from minigrad.classroom.desk import check, compare, exercises_of, hint, judge, predict, register
from minigrad.classroom.exercises import Choice, Exercise, Number, Numbers, Order, Verdict
from minigrad.classroom.values import rounded, show, shown_warnings

_watching.shorten(_watching.shell())
if _watching.in_a_browser():
    # A browser ends Python itself, without an error to catch, where calls of compiled code that
    # call Python nest some 250 deep, each of which counts for two here.
    _sys.setrecursionlimit(min(_sys.getrecursionlimit(), 400))
