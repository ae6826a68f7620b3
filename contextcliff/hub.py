"""The Hugging Face hub, asked once and in silence: its own retries take most of a minute and fill the screen."""

from __future__ import annotations

import os

from contextcliff.errors import RunError

_TIMEOUT_S = 5.0
_OUT_OF_ORDER = 500


def hush_the_hub() -> None:
    """Hold back its warnings; what is wrong is said in one line at the end."""
    from huggingface_hub.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]


def reach_the_hub(repository: str, file: str) -> None:
    """Ask once for a file of a repository, before a library asks with all its retries.

    Raises `RunError`, whose text is the cause, where the hub can't be reached or is out of order. What it has to say of
    the repository (absent, gated) is left to the library, which does not ask again for that.
    """
    import httpx2
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    hush_the_hub()
    try:
        get_hf_file_metadata(hf_hub_url(repository, file), timeout=_TIMEOUT_S)
    except HfHubHTTPError as error:
        if error.response.status_code >= _OUT_OF_ORDER:
            raise RunError(cause(error)) from error
    except HFValidationError:
        return
    except (httpx2.HTTPError, OSError) as error:
        raise RunError(cause(error)) from error


def cause(error: BaseException) -> str:
    """What went wrong, in one short line and without the hub's token."""
    line = " ".join(str(error).split()) or type(error).__name__
    return line.replace(os.environ.get("HF_TOKEN") or "\0", "***")[:200]
