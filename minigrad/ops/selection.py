"""Find entries by rank with the steps that PyTorch takes, so that equal ones come out as there.

PyTorch promises no order among equal entries, but it has one: that in which the sorting and
selecting of the C++ library (of GNU) leaves them. The functions here do the same swaps, on a list
of positions. They are slow, so they are asked only where entries are equal: see `order`.
"""

from __future__ import annotations

from collections.abc import Callable

Before = Callable[[int, int], bool]  # whether the entry at a position comes before another one


def _median_first(order: list[int], before: Before, start: int, a: int, b: int, c: int) -> None:
    """Swap the median of three entries to the start."""
    x, y, z = order[a], order[b], order[c]
    if before(x, y):
        chosen = b if before(y, z) else c if before(x, z) else a
    else:
        chosen = a if before(x, z) else c if before(y, z) else b
    order[start], order[chosen] = order[chosen], order[start]


def _partition(order: list[int], before: Before, start: int, end: int) -> int:
    """Split a range around the median of three of its entries, and give where."""
    _median_first(order, before, start, start + 1, start + (end - start) // 2, end - 1)
    pivot, low, high = order[start], start + 1, end
    while True:
        while before(order[low], pivot):
            low += 1
        high -= 1
        while before(pivot, order[high]):
            high -= 1
        if low >= high:
            return low
        order[low], order[high] = order[high], order[low]
        low += 1


def _insertion_sort(order: list[int], before: Before, start: int, end: int) -> None:
    for place in range(start + 1, end):
        entry = order[place]
        if before(entry, order[start]):
            order[start + 1 : place + 1] = order[start:place]
            order[start] = entry
        else:
            while before(entry, order[place - 1]):
                order[place] = order[place - 1]
                place -= 1
            order[place] = entry


def _sift(order: list[int], before: Before, start: int, hole: int, size: int, entry: int) -> None:
    """Fill a hole in a heap: move the later child up, down to a leaf, and the entry up again."""
    top = hole
    while 2 * hole + 2 < size:
        child = 2 * hole + 2
        if before(order[start + child], order[start + child - 1]):
            child -= 1
        order[start + hole] = order[start + child]
        hole = child
    if 2 * hole + 2 == size:
        order[start + hole] = order[start + 2 * hole + 1]
        hole = 2 * hole + 1
    while hole > top and before(order[start + (hole - 1) // 2], entry):
        order[start + hole] = order[start + (hole - 1) // 2]
        hole = (hole - 1) // 2
    order[start + hole] = entry


def _heap_select(order: list[int], before: Before, start: int, middle: int, end: int) -> None:
    """Bring the first entries of a range to its front, as a heap."""
    size = middle - start
    for hole in range(size // 2 - 1, -1, -1):
        _sift(order, before, start, hole, size, order[start + hole])
    for place in range(middle, end):
        if before(order[place], order[start]):
            entry, order[place] = order[place], order[start]
            _sift(order, before, start, 0, size, entry)


def partial_sort(
    order: list[int], before: Before, middle: int, start: int = 0, end: int | None = None
) -> None:
    """Sort the first entries of a range to its front, as `std::partial_sort`."""
    _heap_select(order, before, start, middle, len(order) if end is None else end)
    for last in range(middle - 1, start, -1):
        entry, order[last] = order[last], order[start]
        _sift(order, before, start, 0, last - start, entry)


def select(order: list[int], before: Before, rank: int) -> None:
    """Bring the entry of a rank to its place, as `std::nth_element`."""
    start, end = 0, len(order)
    depth = 2 * (end.bit_length() - 1)
    while end - start > 3:
        if not depth:
            _heap_select(order, before, start, rank + 1, end)
            order[start], order[rank] = order[rank], order[start]
            return
        depth -= 1
        cut = _partition(order, before, start, end)
        if cut <= rank:
            start = cut
        else:
            end = cut
    _insertion_sort(order, before, start, end)


def sort(order: list[int], before: Before, size: int) -> None:
    """Sort the entries up to a place, as `std::sort`."""
    depth = 2 * (size.bit_length() - 1) if size else 0
    ranges = [(0, size, depth)]
    while ranges:
        start, end, depth = ranges.pop()
        while end - start > 16:
            if not depth:
                partial_sort(order, before, end, start, end)
                break
            depth -= 1
            cut = _partition(order, before, start, end)
            ranges.append((cut, end, depth))
            end = cut
    _insertion_sort(order, before, 0, size)


def quick_select(order: list[int], after: Before, rank: int) -> None:
    """Bring the entry of a rank to its place, as PyTorch's own selection for `kthvalue`."""

    def swap(i: int, j: int) -> None:
        order[i], order[j] = order[j], order[i]

    low, high = 0, len(order) - 1
    while high > low:
        if high == low + 1:
            if after(order[low], order[high]):
                swap(low, high)
            return
        swap(low + (high - low) // 2, low + 1)
        for i, j in ((low + 1, high), (low, high), (low + 1, low)):
            if after(order[i], order[j]):
                swap(i, j)
        i, j, pivot = low + 1, high, order[low]
        while True:
            i += 1
            while after(pivot, order[i]):
                i += 1
            j -= 1
            while after(order[j], pivot):
                j -= 1
            if j < i:
                break
            swap(i, j)
        swap(low, j)
        if j <= rank:
            low = i
        if j >= rank:
            high = j - 1
