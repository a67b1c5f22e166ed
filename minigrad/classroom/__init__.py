"""Work through a lesson: predict, compare, check answers, ask for hints, print stable numbers."""

from minigrad.classroom import browser as _browser
from minigrad.classroom import display as _display
from minigrad.classroom.behaviors import Function, Hook, Property
from minigrad.classroom.desk import check, compare, exercises_of, hint, judge, predict, register
from minigrad.classroom.exercises import Choice, Exercise, Mistake, Number, Numbers, Order, Verdict
from minigrad.classroom.values import rounded, show, shown_warnings

_display.shorten(_display.shell())
_browser.settle()
