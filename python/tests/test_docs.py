"""The programs of docs/python.md run as they are printed, from the project's folder."""

import re

import pytest
from conftest import ROOT

BLOCKS = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_program_of_the_page(number, tmp_path, monkeypatch):
    (tmp_path / "problems").symlink_to(ROOT / "problems")
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"docs/python.md, block {number + 1}", "exec"), {})


def test_there_are_programs():
    assert len(BLOCKS) >= 4
