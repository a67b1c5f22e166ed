"""The argument `out`: shapes that are changed, dtypes that do not fit, memory that overlaps, modes.

The functions that take it are many; here each kind of them has one or two.
"""

from __future__ import annotations

from ..expressions import add_expressions
from .tools import Family

family = Family()

add_expressions(
    family,
    {
        "functions that reduce": """
            torch.cumsum(i, 0, out=torch.zeros(3, dtype=torch.int64))
            torch.cumsum(x, 0, out=torch.zeros(2, 3))
            torch.cumsum(x, 0, out=torch.zeros(0))
            torch.cumsum(r, 0, out=torch.zeros(2))
            torch.cumsum(x, 0, out=3)
            torch.cumsum(x, 0, out=[torch.zeros(2)])
            torch.cumsum(x, 0, out=x)
            torch.prod(x, 0, out=torch.zeros(3))
            torch.var(x, 0, out=torch.zeros(3))
            torch.var(x, 0, out=torch.zeros(0))
            o = torch.zeros(3) ;; torch.var(x, 0, out=o) is o
            o = torch.zeros(3) ;; torch.var(x, 0, out=o) ;; o._version
            z = torch.zeros(6) ;; torch.var(x, 0, out=z[::2]) ;; z
        """,
        "functions with several results": """
            tuple(torch.sort(x, out=(torch.zeros(0), torch.zeros(0, dtype=torch.int64))))
            tuple(torch.sort(x[0], out=(torch.zeros(3), torch.zeros(3, dtype=torch.int64))))
            tuple(torch.topk(x, 2, out=(torch.zeros(0), torch.zeros(0, dtype=torch.int64))))
            o = torch.zeros(0) ;; torch.sort(x, out=(o, torch.zeros(0, dtype=torch.int64)))[0] is o
        """,
        "modes": """
            within(torch.no_grad(), lambda: torch.cumsum(r, 0, out=torch.zeros(2)))
            o = within(torch.no_grad(), lambda: torch.cumsum(i[:2], 0, out=r)) ;; o is r
            o = within(torch.inference_mode(), lambda: torch.zeros(3)) ;; torch.cumsum(i, 0, out=o)
            o = torch.zeros(3) ;; w = torch.inference_mode ;; within(w(), lambda: i.cumsum(0))
        """,
    },
)
