"""Whether a phrase stands in an answer, in any script."""

from __future__ import annotations

from unicodedata import east_asian_width, normalize


def plain(text: str) -> str:
    """A text as it is compared: compatibility forms resolved, lower case, single spaces, straight quotes."""
    return " ".join(normalize("NFKC", text).casefold().replace("’", "'").split())


def stands_in(phrase: str, answer: str) -> bool:
    """Whether `phrase` stands whole in `answer`: no letter or digit may touch it where its script sets spaces.

    A phrase without any sign stands nowhere.
    """
    wanted, text = plain(phrase), plain(answer)
    if not wanted:
        return False
    place = text.find(wanted)
    while place >= 0:
        end = place + len(wanted)
        if _is_free(text[place - 1 : place], wanted[0]) and _is_free(text[end : end + 1], wanted[-1]):
            return True
        place = text.find(wanted, place + 1)
    return False


def _is_free(neighbour: str, edge: str) -> bool:
    return not neighbour.isalnum() or east_asian_width(edge) in "WF" or not edge.isalnum()
