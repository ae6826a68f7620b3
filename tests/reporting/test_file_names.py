"""A page that is passed on says which file was used, and not on whose disk it lies."""

from __future__ import annotations

import pytest

from contextcliff.reporting.run_names import with_file_names


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("dataset.path", "/home/ada/private/novel.txt", "novel.txt"),
        ("dataset.path", r"C:\Users\ada\novel.txt", "novel.txt"),
        ("dataset.path", "~/books/", "books"),
        ("dataset.paths", "['/home/ada/a b.txt', 'books/c.txt']", "['a b.txt', 'c.txt']"),
        ("task.word_list", "lists/words.txt", "words.txt"),
        ("model.gguf.path", "/models/glm.gguf", "glm.gguf"),
        ("output_dir", "/home/ada/outputs", "outputs"),
        ("tracking.uri", "sqlite:////home/ada/mlflow.db", "mlflow.db"),
        ("tracking.uri", "http://tracking:5000/api", "http://tracking:5000/api"),
        ("tokenizer.name", "/models/glm", "glm"),
        ("tokenizer.name", "THUDM/GLM-4", "THUDM/GLM-4"),
        ("model.gguf.path", "None", "None"),
        ("task.instruction", "/no_think Go on / with it.", "/no_think Go on / with it."),
        ("engine.base_url", "http://localhost:5001/v1", "http://localhost:5001/v1"),
    ],
)
def test_of_a_path_the_last_part_is_shown_and_all_else_as_it_is(key: str, value: str, shown: str) -> None:
    assert with_file_names({key: value}) == {key: shown}
