"""One branch of a session as the entries of a session of its own: what `/fork` and `/clone` write."""

from collections.abc import Iterable

from pitree.sessions import drafts
from pitree.sessions.entries import JsonObject


def branched_entries(
    path: Iterable[JsonObject], labels: dict[str, str], times: dict[str, str]
) -> list[JsonObject]:
    """Return the entries of `path` (root to leaf) without its labels, and the labels made anew at the end.

    Label entries are links like any other, so what hung on one is linked to what the label hung on, and a
    compaction that kept from a label on keeps from the next entry on.
    """
    entries: list[JsonObject] = []
    next_after_label: dict[str, str] = {}
    passed: list[str] = []
    parent_id: str | None = None
    for original in path:
        if original.get("type") == "label":
            passed.append(original["id"])
            continue
        next_after_label.update((label_id, str(original["id"])) for label_id in passed)
        passed.clear()
        entry = {**original, "parentId": parent_id}
        kept = entry.get("firstKeptEntryId")
        if entry.get("type") == "compaction" and isinstance(kept, str):
            entry["firstKeptEntryId"] = next_after_label.get(kept, kept)
        entries.append(entry)
        parent_id = entry["id"]
    taken = {entry["id"] for entry in entries}
    labelled = [(target, text) for target, text in labels.items() if target in taken]
    for target, text in labelled:
        entry_id = drafts.new_id(taken)
        taken.add(entry_id)
        entries.append(drafts.entry(drafts.label(target, text), entry_id, parent_id, times[target]))
        parent_id = entry_id
    return entries
