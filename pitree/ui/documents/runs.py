"""Long lists whose members are made when they are asked for, and lists one after the other."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class _Made(Sequence[T_co]):
    """A sequence by its length and its members; a slice is a list."""

    def member(self, place: int) -> T_co:
        """Return the member at a place from 0 to the length less one."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> T_co: ...

    @overload
    def __getitem__(self, index: slice) -> list[T_co]: ...

    def __getitem__(self, index: int | slice) -> T_co | list[T_co]:
        if isinstance(index, slice):
            return [self.member(place) for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        return self.member(place)


class Lazy(_Made[T_co]):
    """`count` members, each made anew by `make(place)` at every call.

    `size` is what all of them say of their size, where that is the same and known without making them.
    """

    def __init__(self, count: int, make: Callable[[int], T_co], size: tuple[int, int] | None = None) -> None:
        self._count = count
        self._make = make
        self.size = size

    def __len__(self) -> int:
        return self._count

    def member(self, place: int) -> T_co:
        """Make a member."""
        return self._make(place)


class Chain(_Made[T_co]):
    """Sequences one after the other; none of them may change its length."""

    def __init__(self, runs: Sequence[Sequence[T_co]]) -> None:
        self.runs = runs
        self._ends = list(accumulate(map(len, runs)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def member(self, place: int) -> T_co:
        """Return the member of the run that holds the place."""
        run = bisect_right(self._ends, place)
        return self.runs[run][place - (self._ends[run - 1] if run else 0)]
