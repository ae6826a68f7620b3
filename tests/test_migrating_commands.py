"""The commands of docs/migrating.md for Japanese text, through a real shell and Hydra's grammar, mean what they say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.compositions import composed, line_of

PAGE = (Path(__file__).parents[1] / "docs" / "migrating.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("### Japanese on the command line")[2].partition("\n## ")[0]
COMMAND = "python -m contextcliff "


def commands() -> list[list[str]]:
    """The arguments of each command of the section, as a shell hands them over."""
    blocks = re.findall(r"(?:^ {4}.*\n)+", SECTION, re.MULTILINE)
    scripts = [re.sub(r"^ {4}", "", block, flags=re.MULTILINE) for block in blocks]
    assert all(script.startswith(COMMAND) for script in scripts)
    told = [
        subprocess.run(
            ["sh", "-c", f"printf '%s\\0' {script.removeprefix(COMMAND)}"], capture_output=True, text=True, check=True
        ).stdout
        for script in scripts
    ]
    return [arguments.split("\0")[:-1] for arguments in told]


def test_japanese_comes_through_as_it_is_written() -> None:
    needle = composed(*commands()[0]).task.needle
    assert needle.text == "「銅の鍵」は、戸棚（二段目）の奥にある：灰色の箱＝右側。"
    assert needle.question == "「銅の鍵」は どこにありますか？"
    assert needle.keywords == ["戸棚", "灰色の箱"]
    several = composed(*commands()[1])
    assert several.dataset.path == "小説/第一章.txt"
    assert several.task.needles == [{"text": "傘は赤い。", "answer": "赤"}, {"text": "帽子は青い。", "answer": "青"}]


def test_quotes_interpolations_and_apostrophes_are_escaped_as_the_page_says() -> None:
    needle = composed(*commands()[2]).task.needle
    assert needle.text == 'He said "red" (a=b, c: [d]) for ${5}, and that\'s all.'
    assert needle.answer == "red"


def test_on_windows_the_pairs_of_quotes_change_places() -> None:
    assert composed("task=niah_static_ja", "task.needle.text='鍵は、底（右）にある。'").task.needle.text == (
        "鍵は、底（右）にある。"
    )


def test_without_the_inner_quotes_the_error_writes_the_command() -> None:
    assert line_of("task=niah_static_ja", "task.needle.text=鍵は、底にある。") == (
        "task.needle.text=鍵は、底にある。: needs quotes twice, for the shell and inside; write "
        "'task.needle.text=\"鍵は、底にある。\"'"
    )
