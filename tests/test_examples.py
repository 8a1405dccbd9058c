"""The examples in docstrings and in the README do what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
MODULES = ("pitree.manager", "pitree.sessions.reader", "pitree.sessions.recorder")
FLAGS = doctest.ELLIPSIS | doctest.FAIL_FAST


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    outcome = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_readme(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    blocks = README.read_text(encoding="utf-8").split("```python\n")[1:]
    examples = "".join(block.partition("```")[0] for block in blocks)
    test = doctest.DocTestParser().get_doctest(examples, {}, README.name, str(README), 0)
    assert len(test.examples) >= 4
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0


def test_every_public_method_is_documented() -> None:
    from pitree import SessionManager

    names = [name for name in dir(SessionManager) if not name.startswith("_")]
    assert len(names) > 35
    for name in names:
        told = getattr(SessionManager, name).__doc__
        assert told, f"SessionManager.{name} says nothing"
