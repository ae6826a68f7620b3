"""MLflow without its side effects: no telemetry, no lines on the terminal, nothing left changed."""

from __future__ import annotations

import logging
import os
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
REACHING = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "4"}
"""For the first request: a dead server is known within about ten seconds, where MLflow takes minutes."""
SENDING = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "30"}
"""For the rest, once the server has answered."""

_LOGGERS = ("mlflow", "alembic", "sqlalchemy", "urllib3")


@contextmanager
def environment(wanted: Mapping[str, str], *, unless_set: bool = False) -> Iterator[None]:
    """Have these environment variables for a while; with `unless_set`, the user's own values stay."""
    changed = {name: os.environ.get(name) for name in wanted if not (unless_set and name in os.environ)}
    os.environ.update({name: wanted[name] for name in changed})
    try:
        yield
    finally:
        for name, before in changed.items():
            if before is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = before


@contextmanager
def quiet_mlflow() -> Iterator[None]:
    """Import mlflow and use it in silence; errors still come as exceptions.

    Creating a database logs lines of its migrations, and every database error a whole traceback.
    """
    with environment(_ALWAYS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Sets the levels of its loggers at import: import first, so that they are what is restored.
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
