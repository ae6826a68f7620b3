"""What libraries work out again in every start of the command line, and the tests once: the same comes of it."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import omegaconf
from hydra.core.config_store import ConfigStore
from omegaconf import grammar_parser

from contextcliff.tracking.quiet import quiet_mlflow


def compose_quickly() -> None:
    """Parse no interpolation twice, and do not copy Hydra's store of configurations, which gives copies itself."""
    parse = cache(grammar_parser.parse)
    vars(omegaconf.base)["parse"] = vars(omegaconf._utils)["parse"] = parse
    ConfigStore.__deepcopy__ = lambda self, _: self  # type: ignore[attr-defined]  # Hydra has none


@cache
def new_database() -> bytes:
    """A database as MLflow makes it: 0.6 s of migrations."""
    import sqlalchemy
    from mlflow.store.db import utils

    with tempfile.NamedTemporaryFile() as file, quiet_mlflow():
        utils._initialize_tables(sqlalchemy.create_engine(f"sqlite:///{file.name}"))
        return Path(file.name).read_bytes()


def track_quickly() -> None:
    """Let MLflow make a new SQLite database as a copy of one that it made."""
    import sqlalchemy
    from mlflow.store.db import utils

    new, make = new_database(), utils._initialize_tables

    def copied(engine: Any) -> None:
        if engine.dialect.name != "sqlite" or sqlalchemy.inspect(engine).get_table_names():
            make(engine)
            return
        with closing(sqlite3.connect(":memory:")) as made, closing(engine.raw_connection()) as connection:
            made.deserialize(new)
            made.backup(connection.driver_connection)

    utils._initialize_tables = copied
