"""The Hugging Face hub, asked once and without log lines: its own retries take up to a minute and fill the screen."""

from __future__ import annotations

import os

from contextcliff.errors import RunError, one_line

_FIRST_SERVER_ERROR = 500
_LONGEST_CAUSE = 200


def quiet_the_hub() -> None:
    from huggingface_hub.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]


def transport_errors() -> tuple[type[Exception], ...]:
    """What a request to the hub may raise: `OSError`, and the base of its HTTP client's errors. That client is `httpx`
    before huggingface_hub 2.0 and `httpx2` from then on."""
    from huggingface_hub.errors import HfHubHTTPError

    return (OSError, next(base for base in HfHubHTTPError.__mro__ if base.__name__ == "HTTPError"))


def reach_the_hub(repository: str, file: str) -> None:
    """Ask once for a file of a repository, before a library asks with all its retries.

    Raises `RunError`, whose text is the cause, where the hub can't be reached or answers with a server error. Other
    errors (no such repository, no access) are left to the library, which reports those without retrying."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    quiet_the_hub()
    try:
        get_hf_file_metadata(hf_hub_url(repository, file), timeout=5.0)
    except HfHubHTTPError as error:
        if error.response.status_code >= _FIRST_SERVER_ERROR:
            raise RunError(cause(error)) from error
    except HFValidationError:
        return
    except transport_errors() as error:
        raise RunError(cause(error)) from error


def cause(error: BaseException) -> str:
    """The message of an error on one short line, with the hub's token replaced by `***`."""
    said = str(error).strip() or type(error).__name__
    return one_line(said.replace(os.environ.get("HF_TOKEN") or "\0", "***"), longest=_LONGEST_CAUSE)
