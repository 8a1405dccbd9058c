"""Hand-made sessions for lines: old versions, odd characters, odd numbers, damage that Pi gets over."""

import json

from .build import Json, Session, call, encode, moment, text


def version_1() -> Session:
    made = _without_ids()
    _old(made, "message", message={"role": "user", "content": "hello"})
    _old(
        made, "message", message={"role": "assistant", "content": [text("hi")], "provider": "p", "model": "m"}
    )
    _old(
        made,
        "message",
        message={"role": "hookMessage", "customType": "c", "content": "hook", "display": True},
    )
    _old(made, "thinking_level_change", thinkingLevel="low")
    _old(made, "model_change", provider="p", modelId="m-2")
    return made


def version_1_with_compactions() -> Session:
    made = _without_ids()
    _old(made, "message", message={"role": "user", "content": "gone"})
    _old(made, "message", message={"role": "user", "content": "kept"})
    _old(made, "compaction", summary="s", firstKeptEntryIndex=2, tokensBefore=9)
    _old(made, "message", message={"role": "user", "content": "after"})
    _old(made, "compaction", summary="t", firstKeptEntryIndex=3, tokensBefore=9)
    made.raw(b"torn {")
    _old(made, "message", message={"role": "user", "content": "last"})
    return made


def version_1_index_counts_read_lines() -> Session:
    made = _without_ids()
    made.raw(b"").raw(b'{"type":"message","message":')
    _old(made, "message", message={"role": "user", "content": "gone"})
    made.raw(b"not json")
    _old(made, "message", message={"role": "user", "content": "kept"})
    _old(made, "compaction", summary="s", firstKeptEntryIndex=2, tokensBefore=9)
    return made


def version_1_odd_indexes() -> Session:
    made = _without_ids()
    _old(made, "message", message={"role": "user", "content": "x"})
    for index in (0, 99, -1, 1.5, "1", None, 1):
        _old(made, "compaction", summary=f"at {index}", firstKeptEntryIndex=index, tokensBefore=9)
    return made


def version_2() -> Session:
    made = Session(version=2)
    root = made.message("hookMessage", customType="c", content="an old role", display=True)
    made.edit(root, "edited as custom")
    made.user("next")
    made.message("hookMessage", root, customType="c", content=None, display=False)
    return made


def version_4() -> Session:
    made = Session(version=4)
    made.user("from the future")
    made.entry("of_the_future", what=1)
    made.message("hookMessage", content="not migrated")
    return made


def odd_characters() -> Session:
    made = Session(cwd="/работа/\ud83d/日本")
    made.user("lone \ud83d and \udc00 and pair \ud83d\ude00, \u2028\u2029\x85\x00\x1b[31m\u202e")
    made.assistant("\ufeff \ufffd \uffff")
    return made


def raw_separators_in_a_line() -> Session:
    made = Session()
    made.raw(
        _line({"role": "user", "content": "a\u2028b\u2029c\x85d\u00a0e", "timestamp": 1}, "aaaaaaaa", None)
    )
    made.last = "aaaaaaaa"
    made.assistant("after")
    return made


def bytes_that_are_no_utf_8() -> Session:
    made = Session()
    line = _line({"role": "user", "content": "HERE", "timestamp": 1}, "aaaaaaaa", None)
    bad = b"\xff|\xc0\xaf|\xe2\x82|\xf0\x9f\x98|\xed\xa0\x80|\xf4\x90\x80\x80|\x80"
    made.raw(line.replace(b"HERE", bad))
    made.last = "aaaaaaaa"
    made.assistant("after")
    return made


def numbers_beyond_python_and_javascript() -> Session:
    made = Session()
    numbers = b"[12345678901234567890123,-0,0.1,1e400,-1e400,1E2,5e-324,9007199254740993,1.0]"
    line = _line({"role": "user", "content": "HERE", "timestamp": 1}, "aaaaaaaa", None)
    made.raw(line.replace(b'"HERE"', numbers))
    return made


def deep_nesting() -> Session:
    made = Session()
    deep: object = "bottom"
    for _ in range(400):
        deep = [{"in": deep}]
    made.calls(call("custom_tool", nested=deep))
    return made


def keys_in_any_order() -> Session:
    made = Session()
    root = made.user("root")
    made.raw(
        b'{"data":{"id":"bad","type":"label","parentId":"bad","targetId":"bad"},"customType":"state",'
        b'"timestamp":"2026-01-02T03:05:00.000Z","parentId":"%s","id":"aaaaaaaa","type":"custom"}'
        % root.encode()
    )
    made.raw(
        b' { "message" : {"content":[{"type":"text","text":"\\"id\\":\\"bad\\""}],"stopReason":"stop",'
        b'"model":"m","provider":"p","role":"assistant"},\t"parentId" : "aaaaaaaa",'
        b'"timestamp":"2026-01-02T03:05:01.000Z","id":"bbbbbbbb","type":"message"}  '
    )
    return made


def keys_that_come_twice() -> Session:
    made = Session()
    made.raw(
        b'{"type":"custom","id":"bad","type":"message","id":"aaaaaaaa","parentId":"bad","parentId":null,'
        b'"timestamp":"2026-01-02T03:05:00.000Z","message":{"role":"toolResult"},'
        b'"message":{"role":"assistant","role":"user","content":"1","content":"2"}}'
    )
    return made


def keys_with_escapes() -> Session:
    made = Session()
    made.raw(
        b'{"t\\u0079pe":"m\\u0065ssage","\\u0069d":"aaaaaaaa","parentId":null,'
        b'"timestamp":"2026-01-02T03:05:00.000Z","message":{"r\\u006fle":"us\\u0065r","content":"x"}}'
    )
    return made


def damage_between_lines() -> Session:
    made = Session()
    root = made.user("before")
    made.raw(b"").raw(b"   \t").raw(b"null").raw(b"false").raw(b"{").raw(b'{"type":"message","id":"torn')
    made.raw(b"{'single': 'quotes'}").raw(b'{"number": NaN}').raw(b"\x00\x00\x00").raw(b'{"a":1}{"b":2}')
    made.assistant("after", root)
    return made


def a_last_line_without_its_newline() -> Session:
    made = Session()
    root = made.user("before")
    made.tail = _line({"role": "user", "content": "complete all the same"}, "aaaaaaaa", root)
    return made


def a_torn_last_line() -> Session:
    made = a_last_line_without_its_newline()
    made.tail = made.tail[:-9]
    return made


def carriage_returns() -> Session:
    made = Session()
    root = _line({"role": "user", "content": "one", "timestamp": 1}, "aaaaaaaa", None)
    made.raw(root + b"\r").raw(b"\r")
    made.last = "aaaaaaaa"
    made.assistant("two")
    return made


def a_second_header() -> Session:
    made = Session()
    made.user("before")
    second: Json = {**made.header, "id": "another", "cwd": "/elsewhere", "parentId": None}
    made.lines.append(second)
    made.assistant("after", "00000001")
    return made


def parents_that_are_no_ids() -> Session:
    made = Session()
    made.raw(
        b'{"type":"message","id":"aaaaaaaa","timestamp":"%s","message":{"role":"user","content":"no parent"}}'
        % _T
    )
    made.raw(_line({"role": "user", "content": "empty parent"}, "bbbbbbbb", ""))
    made.user("child of the first", "aaaaaaaa")
    made.user("child of the second", "bbbbbbbb")
    return made


def long_ids() -> Session:
    made = Session()
    root = made.user("root")
    full = "019b7a00-1111-7000-8000-000000000001"
    made.entry("message", root, id=full, message={"role": "user", "content": "full uuid"})
    made.entry(
        "message", full, id="__proto__", message={"role": "user", "content": "a name JavaScript knows"}
    )
    made.entry("message", "__proto__", id="ключ \u2028", message={"role": "user", "content": "any text"})
    made.label(full, "labelled")
    return made


_T = moment(1).encode()


def _line(message: Json, entry_id: str, parent: str | None) -> bytes:
    made = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": moment(1), "message": message}
    return json.dumps(made, ensure_ascii=False).encode()


def _without_ids() -> Session:
    made = Session()
    del made.header["version"]
    return made


def _old(made: Session, kind: str, **fields: object) -> None:
    made.raw(encode([{"type": kind, "timestamp": moment(len(made.lines)), **fields}]).rstrip(b"\n"))


CASES = (
    odd_characters,
    raw_separators_in_a_line,
    bytes_that_are_no_utf_8,
    numbers_beyond_python_and_javascript,
    deep_nesting,
    keys_in_any_order,
    keys_that_come_twice,
    keys_with_escapes,
    damage_between_lines,
    a_last_line_without_its_newline,
    a_torn_last_line,
    carriage_returns,
    a_second_header,
    parents_that_are_no_ids,
    long_ids,
    version_2,
    version_4,
)
WITHOUT_IDS = (
    version_1,
    version_1_with_compactions,
    version_1_index_counts_read_lines,
    version_1_odd_indexes,
)
