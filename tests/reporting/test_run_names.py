"""What runs and files are called: on whose disk a file lies is never said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.reporting import run_names


def test_a_run_goes_by_its_model_and_what_differs() -> None:
    runs = [
        run_names.RunFacts(run_id="a", model="glm", kv_policy="none", rope="", dataset="essays", label=""),
        run_names.RunFacts(run_id="b", model="glm", kv_policy="none", rope="yarn x2", dataset="essays", label=""),
        run_names.RunFacts(run_id="c", model="glm", kv_policy="none", rope="yarn x2", dataset="essays", label="again"),
    ]
    assert run_names.unique_names(runs) == ("glm", "glm · yarn x2", "glm · yarn x2 · again")
    # What is not known tells nothing apart.
    ours = run_names.RunFacts(run_id="a", model="glm", kv_policy="none", rope="", dataset="essays", label="")
    theirs = run_names.RunFacts(run_id="b", model="glm", dataset="harbour")
    assert run_names.unique_names([ours, theirs]) == ("glm · essays", "glm · harbour")
    # Texts are named where they differ within a dataset.
    runs = [run_names.RunFacts(run_id=text, model="glm", dataset="documents", text=text) for text in ("one", "two")]
    assert run_names.unique_names(runs) == ("glm · one", "glm · two")


def test_runs_alike_in_all_go_by_their_run_ids() -> None:
    runs = [run_names.RunFacts(run_id=run_id, model="glm") for run_id in ("run-1", "run-2", "run-2")]
    assert run_names.telling_names(runs) == ("glm", "glm", "glm")
    assert run_names.unique_names(runs) == ("run-1", "run-2", "run-2 (2)")


def test_runs_alike_in_all_of_these_go_by_the_settings_in_which_they_differ() -> None:
    runs = [run_names.RunFacts(run_id=run_id, model="glm") for run_id in ("run-1", "run-2", "run-3", "run-4")]
    first = {"dataset": "essays", "dataset.language": "en", "task.trials": "4", "output_dir": "here", "created": "1"}
    configured = [
        first,
        {**first, "task.trials": "8", "output_dir": "there", "created": "2"},
        {**first, "dataset": "synthetic", "dataset.language": "ja"},
        {**first, "dataset": "synthetic", "dataset.language": "ja", "created": "4"},
    ]
    assert run_names.unique_names(runs, configured) == (
        *("glm · dataset=essays · trials=4", "glm · dataset=essays · trials=8"),
        *("run-3", "run-4"),
    )


words = st.sampled_from(["a", "a (2)", "b", ""])
facts = st.builds(run_names.RunFacts, run_id=words, model=words, kv_policy=words, label=st.none() | words)


@given(st.lists(facts, max_size=8))
def test_names_are_unique_whatever_the_runs_are(runs: list[run_names.RunFacts]) -> None:
    names = run_names.unique_names(runs)
    assert len(names) == len(set(names)) == len(runs)


def test_a_model_that_all_runs_share_need_not_be_said_with_each() -> None:
    assert run_names.without_common_model(("glm · none", "glm · yarn x2"), model="glm") == ("none", "yarn x2")
    assert run_names.without_common_model(("glm", "glm · yarn x2"), model="glm") == ("glm", "glm · yarn x2")
    assert run_names.without_common_model(("glm · a", "qwen · a"), model="glm") == ("glm · a", "qwen · a")


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("dataset.path", "/home/ada/private/novel.txt", "novel.txt"),
        ("dataset.path", r"C:\Users\ada\novel.txt", "novel.txt"),
        ("dataset.path", "~/books/", "books"),
        ("dataset.paths", "['/home/ada/a b.txt', 'books/c.txt']", "['a b.txt', 'c.txt']"),
        ("reporting.published", "['/home/me/mine.csv', 'ruler:gpt-4']", "['mine.csv', 'ruler:gpt-4']"),
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
    assert run_names.with_file_names({key: value}) == {key: shown}
