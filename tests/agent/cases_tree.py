"""Hand-made sessions for trees, labels, names and leaves."""

from .build import LAST, Session, call, milliseconds, moment, text, usage


def every_entry_type() -> Session:
    made = Session(parentSession="/somewhere/else.jsonl", metadata={"a": [1, None]})
    made.entry("model_change", provider="maker", modelId="m-0")
    made.entry("thinking_level_change", thinkingLevel="high")
    first = made.user("look at this")
    made.calls(text("I read it"), call("read", path="/home/ada/paperboy/a.py", offset=3, limit=4))
    made.result("contents")
    answer = made.assistant([{"type": "thinking", "thinking": "hm"}, text("there it is")])
    made.entry("custom", customType="note", data={"id": "ffffffff", "type": "message", "parentId": None})
    made.entry("custom_message", customType="hint", content="remember", display=False, details={"k": 1})
    made.label(first, "start")
    made.name("a name")
    made.edit(answer, "shorter")
    made.entry("usage", kind="summary", provider="maker", model="m-1", usage=usage(), note="n")
    made.entry("active_tools_change", activeToolNames=["read"])
    made.entry("of_a_later_version", message={"role": "user", "content": "not a message"}, payload=[{}])
    made.compaction(answer, details={"readFiles": ["/home/ada/paperboy/a.py"]}, usage=usage(), fromHook=False)
    made.user("and now")
    made.summary("tried the other way", answer, answer, details={"readFiles": [], "modifiedFiles": ["b"]})
    made.assistant("on we go")
    return made


def several_roots() -> Session:
    made = Session()
    made.user("first")
    made.assistant("one")
    made.user("second", None)
    made.assistant("two")
    made.user("third", None)
    made.assistant("three", "00000003")
    return made


def forks_in_forks() -> Session:
    made = Session()
    root = made.user("root")
    left = made.assistant("left")
    made.user("left 1")
    made.assistant("left 1 1")
    made.user("left 2", left)
    deep = made.assistant("left 2 1")
    made.user("left 2 1 1")
    made.user("left 2 1 2", deep)
    made.user("left 2 1 3", deep)
    made.assistant("right", root)
    made.user("right 1")
    made.assistant("right 1 1")
    made.user("left 2 1 1 1", "00000007")
    return made


def forks_at_hidden_entries() -> Session:
    made = Session()
    made.user("question")
    calls = made.calls(call("read"))
    made.result("one")
    made.assistant("after one")
    made.result("two", parent=calls)
    hidden = made.entry("custom", customType="state")
    made.user("below the state")
    made.user("also below the state", hidden)
    made.label(calls, "silent but labelled")
    made.entry("model_change", None, provider="maker", modelId="m-2")
    made.user("root below a hidden root")
    made.user("its sibling", "0000000a")
    return made


def children_before_parents() -> Session:
    made = forks_in_forks()
    made.lines.reverse()
    return made


def equal_timestamps() -> Session:
    made = Session()
    root = made.user("root")
    for words in ("a", "b", "c", "d"):
        made.assistant(words, root)
        made.user(f"under {words}")
    for line in made.lines:
        assert isinstance(line, dict)
        line["timestamp"] = moment(9)
    return made


def timestamps_against_the_file() -> Session:
    made = Session()
    root = made.user("root")
    for seconds in (50, 20, 40, 10, 30):
        made.entry("message", root, message={"role": "user", "content": "x"}, timestamp=moment(seconds))
    return made


def timestamps_of_all_spellings() -> Session:
    made = Session()
    root = made.user("root")
    for stamp in (
        "2026-01-02T12:00:00+05:00",
        "2026-01-02T06:30:00Z",
        "2026-01-02T06:30:00.5Z",
        "2026-01-02T06:29:59.999999Z",
        "2026-01-02T03:00:00-02:00",
        "2026-01-01",
        "2026-01",
    ):
        made.entry("custom_message", root, customType="c", content=stamp, display=True, timestamp=stamp)
    return made


def timestamps_that_do_not_parse() -> Session:
    made = Session()
    root = made.user("root")
    for stamp in ("soon", "later", "", "never"):
        made.entry("custom_message", root, customType="c", content="x", display=True, timestamp=stamp)
    made.summary("when?", root, timestamp="no time")
    made.compaction(root, timestamp="x")
    return made


def timestamps_that_partly_parse() -> Session:
    made = Session()
    root = made.user("root")
    for stamp in (moment(50), "soon", moment(20), moment(40), "later", moment(10), moment(30)):
        made.entry("custom_message", root, customType="c", content=stamp, display=True, timestamp=stamp)
    return made


def timestamps_that_are_no_strings() -> Session:
    made = Session()
    root = made.user("root")
    for stamp in (milliseconds(9), milliseconds(3), milliseconds(6)):
        made.entry("custom_message", root, customType="c", content="x", display=True, timestamp=stamp)
    return made


def missing_parents() -> Session:
    made = Session()
    made.user("orphan", "deadbeef")
    made.assistant("its child")
    made.user("another orphan", "cafebabe")
    made.assistant("another child")
    return made


def assistants_without_text() -> Session:
    made = Session()
    root = made.user("go")
    for stop in ("stop", "toolUse", "length", "error", "aborted", "deferred", None, ""):
        made.calls(call("bash", command="ls"), parent=root, stopReason=stop)
    contents: list[object] = [
        [],
        [{"type": "thinking", "thinking": "only"}],
        [text("")],
        [text(" \n\t")],
        [text("\u00a0\u2003\u2028")],
        [text("\ufeff")],  # blank for JavaScript, not for Python
        [text("\x1c")],  # blank for Python, not for JavaScript
        [text("\x85")],
        ["text", 5, None, text("seen")],
        None,
    ]
    for content in contents:
        made.assistant(content, root)
    made.message("assistant", root, content=" ", stopReason="stop", provider="p", model="m")
    made.message("assistant", root, content="a string", stopReason="stop", provider="p", model="m")
    made.message("assistant", root, stopReason="stop", provider="p", model="m")
    made.user("the end", root)
    return made


def silent_leaf() -> Session:
    made = Session()
    made.user("go")
    made.calls(call("bash", command="ls"))
    return made


def hidden_leaf() -> Session:
    made = Session()
    root = made.user("go")
    made.assistant("went")
    made.user("again")
    made.name("hangs on the first entry")
    made.entry("session_info", root, name="so does this")
    return made


def usage_is_never_drawn() -> Session:
    made = Session()
    made.user("go")
    spent = made.entry("usage", kind="summary", provider="p", model="m", usage=usage())
    made.assistant("after")
    made.user("beside", spent)
    made.label(spent, "labelled")
    made.entry("usage", kind="title", provider="p", model="m", usage=usage())
    return made


def labels_set_and_cleared() -> Session:
    made = Session()
    one, two, three, four, five = (made.user(f"message {number}") for number in range(5))
    made.label(one, "first")
    made.label(one, "second")
    made.label(two, "gone")
    made.label(two, None)
    made.label(three, "gone too")
    made.label(three, "")
    made.label(four, "  ")
    made.label(five, "twice")
    made.entry("label", targetId=five, label=None)
    made.label(five, "line\nbreak \ud83d")
    made.label("deadbeef", "nobody")
    made.label("00000006", "a label on a label")
    return made


def name_with_newlines() -> Session:
    made = Session()
    made.user("x")
    made.name("  one\ntwo\r\nthree  ")
    return made


def name_with_odd_edges() -> Session:
    made = Session()
    made.user("x")
    made.name("\ufeff\u3000 kept\x85\x1c ")
    return made


def name_cleared() -> Session:
    made = Session()
    made.user("x")
    made.name("old")
    made.name("\u00a0 \n")
    return made


def name_missing() -> Session:
    made = Session()
    made.user("x")
    made.name("old")
    made.entry("session_info")
    return made


def name_null() -> Session:
    made = Session()
    made.user("x")
    made.name("old")
    made.name(None)
    return made


def only_a_header() -> Session:
    return Session()


def a_long_chain_with_a_late_fork() -> Session:
    made = Session()
    for number in range(1500):
        made.user(f"u{number}", LAST)
        made.assistant(f"a{number}")
    made.user("fork", "00000400")
    return made


def a_comb() -> Session:
    """Fork at every step, so that levels grow as deep as the session."""
    made = Session()
    spine = made.user("root")
    for number in range(120):
        made.assistant(f"tooth {number}", spine)
        spine = made.user(f"spine {number}", spine)
    return made


CASES = (
    every_entry_type,
    several_roots,
    forks_in_forks,
    forks_at_hidden_entries,
    children_before_parents,
    equal_timestamps,
    timestamps_against_the_file,
    timestamps_of_all_spellings,
    timestamps_that_do_not_parse,
    timestamps_that_partly_parse,
    timestamps_that_are_no_strings,
    missing_parents,
    assistants_without_text,
    silent_leaf,
    hidden_leaf,
    usage_is_never_drawn,
    labels_set_and_cleared,
    name_with_newlines,
    name_with_odd_edges,
    name_cleared,
    name_missing,
    name_null,
    only_a_header,
    a_long_chain_with_a_late_fork,
    a_comb,
)
