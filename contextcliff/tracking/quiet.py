"""MLflow without telemetry and log lines; environment and log levels are restored afterwards."""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_ALWAYS = {
    # Read when mlflow is imported, where it would start a thread, and again at each call.
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
FIRST_REQUEST = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "4"}
"""For the first request: a dead server is reported after about ten seconds; MLflow's own limits take minutes."""
LATER_REQUESTS = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "30"}
"""For the other requests, once the server has answered."""

_turn = threading.RLock()
_LOGGERS = ("mlflow", "alembic", "sqlalchemy", "urllib3")


@contextmanager
def variables_set(values: Mapping[str, str], *, unless_set: bool = False) -> Iterator[None]:
    """Set environment variables inside the block; with `unless_set`, those that the user has set are kept."""
    previous = {name: os.environ.get(name) for name in values if not (unless_set and name in os.environ)}
    os.environ.update({name: values[name] for name in previous})
    try:
        yield
    finally:
        for name, before in previous.items():
            if before is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = before


@contextmanager
def quiet_mlflow() -> Iterator[None]:
    """Import mlflow and use it inside the block without log lines; errors are still raised.

    Otherwise MLflow logs every migration of a new database, and a traceback for every database error.
    """
    # One thread at a time: levels, warnings and variables belong to the whole process.
    with _turn, variables_set(_ALWAYS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Imported first, since the import sets the levels of its loggers, and those are to be restored.
        import mlflow  # noqa: F401

        loggers = [logging.getLogger(name) for name in _LOGGERS]
        levels = [logger.level for logger in loggers]
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
