"""All hand-made sessions, and from which leaves to look at them."""

from collections.abc import Callable

import pytest

from . import cases_context, cases_lines, cases_tree
from .build import Session
from .oracle import OWN_LEAF, OwnLeaf

MANY_ENTRIES = 60
SOME = 8
Make = Callable[[], Session]

CASES: tuple[Make, ...] = (*cases_tree.CASES, *cases_context.CASES, *cases_lines.CASES)
WITHOUT_IDS: tuple[Make, ...] = cases_lines.WITHOUT_IDS

each_case = pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
each_case_without_ids = pytest.mark.parametrize("make", WITHOUT_IDS, ids=lambda make: make.__name__)


def leaves(made: Session) -> list[str | OwnLeaf | None]:
    """Give the file's own leaf, the place before the first entry and every entry; some of very many."""
    ids = made.ids()
    step = 1 if len(ids) <= MANY_ENTRIES else len(ids) // SOME
    return [OWN_LEAF, None, *ids[::step]]
