"""Answers in which a model says that it can't or won't."""

from __future__ import annotations

import re

_REFUSAL = re.compile(
    r"""\b(?:
        i(?:'m|\ am)\ (?:sorry|unable|not\ able|afraid)
      | i\ (?:can(?:no|')t|could(?:n't|\ not)|do(?:n't|\ not)\ (?:know|have|see))
      | (?:is|was|are|were)(?:\ not|n't)\ (?:mentioned|provided|given|specified|stated|included|available|in\ the\ text)
      | (?:does|do|did)(?:\ not|n't)\ (?:mention|provide|contain|specify|state|say|include)
      | no\ (?:such\ |specific\ )?(?:mention|information|answer)
      | can(?:not|'t)\ (?:be\ )?(?:find|found|determined?)
      | unknown
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def is_refusal(answer: str) -> bool:
    """Whether an answer says that the text doesn't tell, or that the model won't (English)."""
    return _REFUSAL.search(answer.replace("’", "'")) is not None
