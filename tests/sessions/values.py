"""Random JSON values with all that JavaScript writes, and when two of them are the same."""

import math
from decimal import Decimal

from hypothesis import settings
from hypothesis import strategies as st

characters = st.characters(exclude_categories=())
"""All of them, lone surrogates included."""

texts = st.one_of(
    st.text(characters, max_size=8),
    st.sampled_from(
        ["", " ", "\ud83d", "\udc00x", "😀", "a\u2028b", "\x00", "\x1b[31m", "\ufeff", "__proto__"]
    ),
)

long_numbers = st.builds(
    lambda sign, first, digits: Decimal(f"{sign}{first}{'7' * digits}"),
    st.sampled_from(["", "-"]),
    st.integers(1, 9),
    st.sampled_from([4300, 5000]),
)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(2**70), 2**70),
    st.integers(2**63 - 2, 2**64 + 2),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)

json_values = st.recursive(
    scalars | long_numbers,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)

plain_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def same(one: object, other: object) -> bool:
    """Return whether two JSON values are the same one: 1, 1.0 and true differ, and so do 0.0 and -0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return one == other


thorough = settings(max_examples=6 * settings().max_examples)
"""For the properties that everything else stands on."""
