"""`state.db`: what was answered stays, whoever writes and whatever happens."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from contextcliff.errors import ConfigError, EngineFault, RunError
from contextcliff.execution import database
from contextcliff.execution.database import COLUMNS, insert, seal_runs
from contextcliff.execution.store import PlannedSample, Respondent, Store, StoredRun
from contextcliff.models.sampling import Sampling
from contextcliff.records.corpus import Document
from contextcliff.records.report import RunFacts
from tests.tasks.needles import build, niah, said

SAMPLES = build(niah(lengths=[300, 600], depths=[0.0, 0.5], trials=2))
PLANNED = tuple(
    PlannedSample(sample=sample, prompt_sha256=f"sha-{i}", key=f"key-{i}") for i, sample in enumerate(SAMPLES)
)
FACTS = RunFacts(model="m", engine="e", context_window=8192, tokenizer="words", dataset="text")
RUN = StoredRun(run_id="run", fingerprint="f", label="", facts=FACTS)
TEXT = Document(document_id="d", title="a title", text="a text", language="en")


def kept(folder: Path, *numbers: int, run: StoredRun = RUN, answer: str = "9") -> Path:
    """A store with a run that planned all samples and has the answers of some."""
    with Store(folder) as store:
        store.begin(run, PLANNED)
        for number in numbers:
            store.keep(PLANNED[number], said(answer))
        store.add_wall_time(run.run_id, 0.0)
    return folder


def edited(file: Path, *statements: str) -> None:
    """Change a database as if our own code had written it so: with the digests that belong to its rows."""
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
        for table, columns in COLUMNS.items():
            found = connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
            connection.execute(f"DELETE FROM {table}")
            insert(connection, table, (dict(zip(columns, row, strict=True)) for row in found))
        seal_runs(connection)


def test_nothing_is_written_before_the_first_answer_and_all_of_it_with_that(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    with Store(folder) as store:
        store.begin(RUN, PLANNED, [TEXT])
        for kind in ("timeout", "timeout", "connect"):
            store.record_fault("run", "x", EngineFault(kind, "refused"))
        store.keep_vectors({"v": [0.5, 0.25]})
        store.add_wall_time("run", 1.0)
        assert not folder.exists()
        assert (store.run("run"), store.generation("key-0")) == (None, None)
        store.keep(PLANNED[0], said("9"))
    with Store(folder) as again:
        again.verify()
        assert (again.generation("key-0"), again.missing(PLANNED)) == (said("9"), list(PLANNED[1:]))
        assert (again.run("run"), again.schedule("run")) == (replace(RUN, wall_s=1.0), PLANNED)
        assert (again.documents("run"), again.vectors(["v", "w"])) == ({"d": TEXT}, {"v": (0.5, 0.25)})
        assert [fault.kind for _, fault in again.faults("run")] == ["timeout", "timeout", "connect"]
        again.begin(RUN, PLANNED[:2])
        assert (again.run("run"), again.schedule("run")) == (replace(RUN, wall_s=1.0), PLANNED[:2])


def test_a_label_belongs_to_one_configuration(tmp_path: Path) -> None:
    with Store(kept(tmp_path, 0, run=replace(RUN, label="tuned"))) as store:
        store.refuse_taken_label("tuned", fingerprint="f")
        store.refuse_taken_label("", fingerprint="g")
        with pytest.raises(ConfigError) as told:
            store.refuse_taken_label("tuned", fingerprint="g")
    assert str(told.value) == (
        "label=tuned: is the name of another configuration (run); choose another label, or repeat that configuration"
    )


def test_a_locked_database_is_named_and_a_freed_one_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_BUSY_S", 0.05)
    with Store(kept(tmp_path, 0)) as store:
        assert store.generation("key-0") == said("9")
        with sqlite3.connect(tmp_path / "state.db", isolation_level=None) as holder:
            holder.execute("BEGIN EXCLUSIVE")
            with pytest.raises(RunError, match="state.db: database is locked; another process holds it: wait"):
                store.keep(PLANNED[1], said("8"))
            holder.execute("ROLLBACK")
        store.keep(PLANNED[2], said("7"))
        # What could not be written was not forgotten either.
        assert [store.generation(f"key-{number}") for number in (0, 1, 2)] == [said("9"), said("8"), said("7")]


def test_the_query_of_the_readme_gives_questions_and_answers(tmp_path: Path) -> None:
    (query,) = re.findall(r'sqlite3 outputs/state.db "(.+)"', Path("README.md").read_text("utf-8"))
    with sqlite3.connect(kept(tmp_path, 0) / "state.db") as connection:
        assert connection.execute(query).fetchall() == [(SAMPLES[0].question, "9")]


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_a_number_that_is_not_finite_is_not_stored(tmp_path: Path, number: float) -> None:
    with Store(tmp_path) as store:
        with pytest.raises(RunError, match="a number that is not finite is not stored"):
            store.keep(PLANNED[0], replace(said("9"), latency_ms=number))
        with pytest.raises(RunError, match="a number of an embedding is not finite: it is not stored"):
            store.keep_vectors({"v": [0.5, number]})
    assert not (tmp_path / "state.db").exists()


def test_a_file_system_without_hard_links_has_a_store_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", mock.Mock(side_effect=PermissionError))
    assert [path.name for path in kept(tmp_path, 0).iterdir()] == ["state.db"]


def test_a_store_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        vars(database)["seal_runs"] = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # while it is made
        kept(tmp_path, 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not (tmp_path / "state.db").exists()
    with Store(kept(tmp_path, 0)) as store:
        store.verify()


PLAIN = Respondent(identity={"engine": "e", "weights": "w", "kv": "none"}, sampling=Sampling(), label="")
OTHERS = (
    *(replace(PLAIN, identity={**PLAIN.identity, key: "another"}) for key in PLAIN.identity),
    replace(PLAIN, sampling=Sampling(max_tokens=9)),
    replace(PLAIN, sampling=Sampling(temperature=1.0)),
    replace(PLAIN, label="tuned"),
)


def test_who_answers_enters_the_key_and_the_seed_only_where_tokens_are_drawn() -> None:
    first, second = SAMPLES[:2]
    assert len({each.key(first, "sha") for each in (PLAIN, *OTHERS)}) == 1 + len(OTHERS)
    differing = [each for each in OTHERS if each.key(first, "sha") != each.key(second, "sha")]
    assert [each.sampling.temperature for each in differing] == [1.0]
