"""What a search finds and how families stand: as in Pi's own selector, on stores made at random."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitree.catalog.cache import Cache
from pitree.catalog.finder import Finder
from pitree.catalog.locations import Store
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.sync import update
from pitree.catalog.threads import threaded

from .build import START
from .oracle import Oracle

_START_MS = int(START.timestamp() * 1000)

letters = st.text("ab1 /-.\nÉ", max_size=8)
talks = st.fixed_dictionaries(
    {"name": letters, "text": letters, "cwd": st.sampled_from(["/a/b", "/b1", "/x-a"])}
)
queries = st.text('ab1e "/-é', min_size=1, max_size=7) | st.sampled_from(["re:a.b", "re:^a", 're:"', '"a b"'])


def write(path: Path, place: int, *, parent: str | None = None, **said: str) -> None:
    stamp = "2026-01-01T00:00:00.000Z"
    header = {"type": "session", "version": 3, "id": f"id-{place:03}", "timestamp": stamp, "cwd": "/a"}
    header |= {"cwd": said["cwd"]} if "cwd" in said else {}
    header |= {} if parent is None else {"parentSession": parent}
    message = {"role": "user", "content": said.get("text", "x"), "timestamp": _START_MS + place}
    lines = [
        header,
        {"type": "message", "id": "a", "parentId": None, "timestamp": stamp, "message": message},
        {
            "type": "session_info",
            "id": "b",
            "parentId": "a",
            "timestamp": stamp,
            "name": said.get("name", ""),
        },
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def listed(store: Path, cache: Cache) -> list[SessionRow]:
    rows: list[SessionRow] = []
    update(Store(store, flat=True, source=""), cache, on_rows=lambda found, _done, _total: rows.extend(found))
    return newest_first(rows)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(said=st.lists(talks, min_size=1, max_size=6), asked=st.lists(queries, min_size=1, max_size=5))
def test_searches(
    oracle: Oracle, said: list[dict[str, str]], asked: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = tmp_path_factory.mktemp("store")
    for place, each in enumerate(said):
        write(store / f"{place}.jsonl", place, **each)
    cache = Cache(None)
    rows = listed(store, cache)
    finder = Finder(cache)
    for query in asked:
        assert [row.id for row in finder.find(rows, query, edition=1).rows] == oracle.search(store, query)
        recent = finder.find(rows, query, "recent", edition=1).rows
        assert [row.id for row in recent] == oracle.search(store, query, "recent")
    cache.close()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    parents=st.lists(st.integers(-3, 8), min_size=1, max_size=9),
    order=st.permutations(range(9)),
)
def test_families(
    oracle: Oracle, parents: list[int], order: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Without circles, which Pi's list loses."""
    store = tmp_path_factory.mktemp("store")
    for place, parent in enumerate(parents):
        named = {-1: None, -2: "/nowhere/else.jsonl", -3: ""}.get(
            parent, str(store / f"{parent}.jsonl") if parent < place else None
        )
        write(store / f"{place}.jsonl", order[place], parent=named)
    cache = Cache(None)

    ours = [(member.row.location, len(member.lead) // 3) for member in threaded(listed(store, cache))]

    assert ours == oracle.threaded(store)
    cache.close()
