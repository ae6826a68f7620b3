"""The files of a run as they leave this machine: without its paths, and where it is asked without any text."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from contextcliff.reporting.run_names import file_name, with_file_names

_TEXTS = frozenset({".csv", ".html", ".json", ".jsonl", ".md", ".txt", ".yaml"})
_PATH = re.compile(r"(?:~|[A-Za-z]:|\.{0,2})[/\\][^'\",\[\]\n]*|[\w.-]+[/\\][^'\",\[\]\n]*")
_WORDLESS = frozenset({"report.json", "report.md", "samples.jsonl", "manifest.json", "config.yaml"})
WORDS: Mapping[str, object] = {
    **{"question": "", "answers": [], "prediction": None, "output": None, "reasoning": "", "metadata": {}, "prompt": ""}
}
"""Columns of the samples that hold text of the model, the documents or the task, and what they are without it."""


def own_paths(parameters: Mapping[str, str]) -> dict[str, str]:
    """What the paths of a flattened configuration are replaced by: the path to its last part."""
    shown = with_file_names(parameters)
    found = {
        match.rstrip() for key, value in parameters.items() if shown[key] != value for match in _PATH.findall(value)
    }
    return {path: file_name(path) for path in sorted(found, key=len, reverse=True) if len(path) > 1}


@contextmanager
def outgoing(folder: Path, *, paths: Mapping[str, str], log_text: bool, files: str = "**/*") -> Iterator[Path]:
    """A folder with those `files` of `folder` that are uploaded; gone when the block ends. Without `log_text`, files go
    without texts of the model, the documents and the task, or stay here."""
    with tempfile.TemporaryDirectory(prefix="contextcliff-upload-") as made:
        for file in sorted(folder.glob(files)):
            name = file.relative_to(folder)
            # A hidden one is something that a process that was killed did not finish.
            if not file.is_file() or file.is_symlink() or any(part.startswith(".") for part in name.parts):
                continue
            if not log_text and file.suffix != ".png" and file.name not in _WORDLESS:
                continue
            place = Path(made) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            changed = _changed(file, paths, log_text=log_text) if file.suffix in _TEXTS else None
            if changed is None:
                place.symlink_to(file.absolute())
            else:
                place.write_text(changed, encoding="utf-8")
        yield Path(made)


def without_paths(text: str, paths: Mapping[str, str]) -> str:
    """A text with `paths` replaced wherever they stand, and the home folder by `~`."""
    for path, name in (*paths.items(), *([(home, "~")] if len(home := str(Path.home())) > 1 else [])):
        # YAML breaks a long line at its blanks.
        text = re.sub(r"\s+".join(map(re.escape, path.split(" "))), name.replace("\\", r"\\"), text)
        escaped = json.dumps(path)[1:-1]  # a path of Windows inside JSON
        if escaped != path:
            text = text.replace(escaped, json.dumps(name)[1:-1])
    return text


def _changed(file: Path, paths: Mapping[str, str], *, log_text: bool) -> str | None:
    """The text that is uploaded in the place of a file's; None if that is the file's own."""
    try:
        own = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
    text = without_paths(own, paths)
    if not log_text and file.name == "samples.jsonl":
        text = "".join(f"{json.dumps(wordless(json.loads(line)))}\n" for line in text.splitlines())
    if not log_text and file.name == "manifest.json":
        kept = {key: value for key, value in json.loads(text).items() if key != "corpus"}
        text = json.dumps(kept, ensure_ascii=False, indent=2) + "\n"
    return None if text == own else text


def wordless(row: Mapping[str, object]) -> dict[str, object]:
    return {key: WORDS.get(key, value) for key, value in row.items()}
