"""Hand-made sessions for contexts: roles, compactions, edits, summaries."""

from .build import Json, Session, call, milliseconds, text

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


def every_role(made: Session) -> dict[str, str]:
    """Add one message of every role; gives role to id."""
    ran: Json = {"command": "ls", "output": "a\nb", "exitCode": 0, "cancelled": False, "truncated": False}
    return {
        "system": made.message("system", content="be brief", sections={"tone": "dry", "old": None}),
        "user": made.user([text("see"), IMAGE]),
        "assistant": made.calls({"type": "thinking", "thinking": "hm"}, call("read", path="/a"), text("ok")),
        "toolResult": made.result([text("bytes"), IMAGE]),
        "bashExecution": made.message("bashExecution", **ran),
        "excluded": made.message("bashExecution", **ran, excludeFromContext=True),
        "custom": made.message("custom", customType="c", content="as a message", display=True),
        "custom_message": made.entry(
            "custom_message", customType="c", content=[text("an entry")], display=True
        ),
        "branchSummary": made.message("branchSummary", summary="inside a message", fromId="00000001"),
        "compactionSummary": made.message("compactionSummary", summary="inside a message", tokensBefore=3),
        "branch_summary": made.summary("as an entry", "00000001"),
        "unheard of": made.message("unheard of", content="still passed on"),
    }


def all_roles() -> Session:
    made = Session()
    every_role(made)
    return made


def all_roles_omitted() -> Session:
    made = Session()
    for target in every_role(made).values():
        made.edit(target, None)
    made.user("next")
    return made


def all_roles_replaced_by_a_string() -> Session:
    made = Session()
    for target in every_role(made).values():
        made.edit(target, "instead")
    return made


def all_roles_replaced_by_blocks() -> Session:
    made = Session()
    for target in every_role(made).values():
        made.edit(target, [text("instead"), IMAGE])
    return made


def the_last_edit_counts() -> Session:
    made = Session()
    asked = made.user("original")
    said = made.assistant("original")
    made.edit(asked, "first edit")
    made.edit(said, None)
    made.edit(asked, "second edit")
    made.edit(said, "back again")
    made.edit("deadbeef", "nobody")
    return made


def an_edit_on_another_branch() -> Session:
    made = Session()
    asked = made.user("original")
    said = made.assistant("answer")
    made.edit(asked, "edited here only")
    made.user("sees the edit")
    made.user("sees the original", said)
    return made


def edits_around_compactions() -> Session:
    made = Session()
    gone = made.user("compacted away")
    made.edit(gone, "an edit compacted away")
    kept = made.user("kept")
    made.edit(kept, "kept edit")
    late = made.user("edited after the compaction")
    compacted = made.compaction(kept, systemMessage={"role": "system", "content": "be brief", "timestamp": 5})
    made.edit(late, None)
    made.edit(gone, "too late")
    made.user("next")
    made.edit(compacted, "compactions keep theirs")
    made.user("leaf")
    return made


def an_edit_that_omits_the_compaction() -> Session:
    made = Session()
    kept = made.user("kept")
    compacted = made.compaction(kept, systemMessage={"role": "system", "content": "be brief", "timestamp": 5})
    made.edit(compacted, None)
    return made


def an_edit_ahead_of_its_target() -> Session:
    made = Session()
    made.edit("00000003", "compacted away, so without effect")
    kept = made.edit("00000004", "still in effect")
    made.user("original")
    made.user("original")
    made.compaction(kept)
    return made


def null_and_missing_contents() -> Session:
    made = Session()
    for role in ("user", "assistant", "toolResult", "system", "custom", "bashExecution"):
        made.message(role, content=None)
        made.message(role)
    made.entry("custom_message", customType="c", content=None, display=True, details=None)
    made.entry("custom_message", customType="c", display=True)
    made.entry("custom_message", content="neither type nor display")
    return made


def null_contents_that_are_edited() -> Session:
    made = Session()
    for role in ("user", "assistant", "toolResult", "system", "custom"):
        made.edit(made.message(role, content=None), "instead")
    return made


def compaction_keeps_from_an_entry() -> Session:
    made = Session()
    made.message("system", content="be brief")
    made.user("gone")
    kept = made.user("kept")
    made.message("system", content="dropped although in the kept range")
    made.assistant("kept too")
    made.compaction(kept)
    made.message("system", content="after it, so it stays")
    made.user("after")
    return made


def compaction_keeps_none() -> Session:
    made = Session()
    made.user("gone")
    made.compaction("self")
    made.user("after")
    return made


def compaction_without_a_kept_entry() -> Session:
    made = Session()
    made.user("gone")
    made.entry("compaction", summary="s", tokensBefore=1)
    made.user("after")
    return made


def compaction_keeps_from_an_unknown_entry() -> Session:
    made = Session()
    made.user("gone")
    made.compaction("deadbeef")
    made.user("after")
    return made


def compaction_keeps_from_another_branch() -> Session:
    made = Session()
    root = made.user("root")
    elsewhere = made.user("elsewhere")
    made.assistant("here", root)
    made.compaction(elsewhere)
    made.user("after")
    return made


def compaction_keeps_from_after_itself() -> Session:
    made = Session()
    made.user("gone")
    made.compaction("00000003")
    made.user("after, and named by the compaction")
    return made


def compaction_off_the_path() -> Session:
    made = Session()
    root = made.user("root")
    made.assistant("on the way")
    made.compaction(root)
    made.user("compacted branch")
    made.user("the whole history", "00000002")
    return made


def compactions_in_a_row() -> Session:
    made = Session()
    made.user("gone")
    first = made.user("kept by both")
    made.compaction(first, systemMessage={"role": "system", "content": "old", "timestamp": 1})
    made.user("between")
    made.compaction(first)
    made.user("after")
    return made


def compaction_keeps_from_a_compaction() -> Session:
    made = Session()
    kept = made.user("kept by the first")
    inner = made.compaction(kept)
    made.user("between")
    made.compaction(inner)
    return made


def compaction_with_an_empty_summary() -> Session:
    made = Session()
    kept = made.user("kept")
    made.compaction(kept, summary="", tokensBefore=None, systemMessage=None)
    return made


def compaction_of_nothing_but_itself() -> Session:
    made = Session()
    made.entry("compaction")
    return made


def branch_summaries() -> Session:
    made = Session()
    root = made.user("root")
    left = made.assistant("left")
    made.summary("what the left branch found", left, root)
    made.summary("", left)
    made.entry("branch_summary", fromId="root")
    made.summary("from the root", "root", None)
    made.user("after it")
    return made


def custom_messages() -> Session:
    made = Session()
    made.entry("custom_message", customType="c", content="shown", display=True, details={"n": 1})
    made.entry("custom_message", customType="c", content=[text("hidden"), IMAGE], display=False)
    made.entry("custom_message", customType="c", content="", display=None, details=None)
    return made


def models_and_levels() -> Session:
    made = Session()
    made.entry("model_change", provider="one", modelId="m-1")
    made.entry("thinking_level_change", thinkingLevel="low")
    fork = made.user("fork here")
    made.assistant("by another", provider="two", model="m-2")
    made.entry("model_change", provider="three", modelId="m-3")
    made.entry("thinking_level_change", thinkingLevel="xhigh")
    made.compaction(fork)
    made.user("model and level come from the whole path")
    made.user("back at the fork", fork)
    return made


def an_assistant_without_a_model() -> Session:
    made = Session()
    made.entry("model_change", provider="one", modelId="m-1")
    made.message("assistant", content=[text("whose?")])
    return made


def a_model_change_without_a_model() -> Session:
    made = Session()
    made.assistant("known")
    made.entry("model_change")
    return made


def stored_objects_are_untouched() -> Session:
    made = Session()
    made.user("x", extra={"deep": [{"er": None}]}, timestamp="not a number", content_note=False)
    made.message("toolResult", toolCallId=5, content="a string", isError="yes", nestedCalls=[{}])
    made.message("assistant", content={"type": "text"}, provider=None, model=7, usage="none")
    made.message("user", content=0, timestamp=milliseconds(3) + 0.5)
    return made


def roles_that_are_no_strings() -> Session:
    made = Session()
    roles: list[object] = [[], {}, ["user"], 5, None, True, ""]
    for role in roles:
        made.entry("message", message={"role": role, "content": "passed on as it is"})
        made.entry("message", message={"role": role, "content": None})
    made.entry("message", message={})
    made.edit("00000001", "has no effect")
    return made


def other_values_that_are_no_strings() -> Session:
    made = Session()
    odd: list[object] = [[], {}, 5, True]
    for value in odd:
        made.assistant([text("seen"), {"type": value, "text": "x"}], stopReason=value, errorMessage=value)
        made.calls(text("seen"), {"type": "toolCall", "id": value, "name": value, "arguments": value})
        made.message("toolResult", toolCallId=value, toolName=value, content=[text("x")], isError=value)
        made.message("bashExecution", command=value, output=value, exitCode=value)
        made.entry("custom_message", customType=value, content=[{"type": value}], display=value)
        made.entry("custom", customType=value)
        made.entry("model_change", provider=value, modelId=value)
        made.entry("compaction", summary=value, tokensBefore=value, firstKeptEntryId=value)
    made.user("the end")
    return made


CASES = (
    all_roles,
    all_roles_omitted,
    all_roles_replaced_by_a_string,
    all_roles_replaced_by_blocks,
    the_last_edit_counts,
    an_edit_on_another_branch,
    edits_around_compactions,
    an_edit_that_omits_the_compaction,
    an_edit_ahead_of_its_target,
    null_and_missing_contents,
    null_contents_that_are_edited,
    compaction_keeps_from_an_entry,
    compaction_keeps_none,
    compaction_without_a_kept_entry,
    compaction_keeps_from_an_unknown_entry,
    compaction_keeps_from_another_branch,
    compaction_keeps_from_after_itself,
    compaction_off_the_path,
    compactions_in_a_row,
    compaction_keeps_from_a_compaction,
    compaction_with_an_empty_summary,
    compaction_of_nothing_but_itself,
    branch_summaries,
    custom_messages,
    models_and_levels,
    an_assistant_without_a_model,
    a_model_change_without_a_model,
    stored_objects_are_untouched,
    roles_that_are_no_strings,
    other_values_that_are_no_strings,
)
