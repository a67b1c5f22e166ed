"""Check the exercises of lesson 13, on networks that do not learn."""

from __future__ import annotations

from .clipping import CLIPPING
from .dead import DEAD
from .even import EVEN
from .flow import FLOW
from .medicine import BY_HAND
from .nan import RECEIVES

EXERCISES = [FLOW, CLIPPING, BY_HAND, DEAD, RECEIVES, EVEN]
