"""What short texts add to a long one, counted where they meet it: each once, and many in one request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from contextcliff.records.sample import Prompt
from contextcliff.text.tokens import Tokenizer, is_wide, token_counts

_SEAM_CHARACTERS = 60
"""No token reaches further than a word."""
_PROBED_SEAMS = 16
_PROBED_CHARACTERS = 200
_PROBE, _WIDE_PROBE = "It is so. ", "これはそうです。"
_MOST_KEPT = 256
"""Counts. Needles hardly ever come again, and what stands around them does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seams:
    """The places between the sentences of a text, where other sentences go in.

    Tokens split anew where texts meet. A text is therefore counted between its neighbours, less their own count: at
    the place where a short sentence adds most, so that it is known before its place, or in its place.
    """

    text: str
    place: int
    """Where a short sentence adds most."""
    tokenizer: Tokenizer
    _kept: dict[str | Prompt, int] = field(default_factory=dict, repr=False, compare=False)

    def count(self, *, between: Sequence[str], behind: Sequence[str]) -> tuple[list[int], list[int]]:
        """Tokens that each text adds between two sentences, and behind the last one. One request at most."""
        left, right = _sides(self.text, self.place)
        inside = [f"{left}{text}{right}" for text in between]
        at_end = [f"{left}{text}" for text in behind]
        bare = f"{left}{right}"
        known = self._counted([*inside, *at_end, bare, left])
        return [known[text] - known[bare] for text in inside], [known[text] - known[left] for text in at_end]

    def before(self, text: str) -> int:
        """Tokens of the chat template and of a text before the first sentence."""
        # Chat templates strip messages.
        right = _sides(self.text, self.place)[1].rstrip()
        prompt = Prompt(user=f"{text}{right}")
        known = self._known(prompt)
        if known is None:
            known = self.tokenizer.count_prompt(prompt) - self._counted([right])[right]
            self._keep(prompt, known)
        return known

    def added(self, texts: Mapping[int, str]) -> int:
        """Tokens that texts add at the places where they go in. One request at most."""
        sides = {place: _sides(self.text, place) for place in texts}
        filled = [f"{left}{texts[place]}{right}" for place, (left, right) in sides.items()]
        bare = [f"{left}{right}" for left, right in sides.values()]
        known = self._counted([*filled, *bare])
        return sum(known[text] for text in filled) - sum(known[text] for text in bare)

    def _counted(self, texts: Iterable[str]) -> dict[str, int]:
        found = {text: self._known(text) for text in texts}
        unknown = [text for text, tokens in found.items() if tokens is None]
        fresh = dict(zip(unknown, token_counts(unknown, self.tokenizer), strict=True)) if unknown else {}
        for text, tokens in fresh.items():
            self._keep(text, tokens)
        return {text: fresh[text] if tokens is None else tokens for text, tokens in found.items()}

    def _known(self, text: str | Prompt) -> int | None:
        """The count of a text, which is then the last to be forgotten."""
        if text in self._kept:
            self._kept[text] = self._kept.pop(text)
        return self._kept.get(text)

    def _keep(self, text: str | Prompt, tokens: int) -> None:
        while len(self._kept) >= _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[text] = tokens


def seams_of(text: str, boundaries: Sequence[int], tokenizer: Tokenizer) -> Seams:
    """The seams of a text whose sentences begin at `boundaries`. One request."""
    inside = [start for start in boundaries if 0 < start < len(text)] or [0]
    step = max(1, len(inside) // _PROBED_SEAMS)
    places = inside[::step][:_PROBED_SEAMS]
    wide = sum(map(is_wide, text[:_PROBED_CHARACTERS])) > min(len(text), _PROBED_CHARACTERS) // 2
    probe = _WIDE_PROBE if wide else _PROBE
    sides = [_sides(text, place) for place in places]
    counts = token_counts(
        [joined for left, right in sides for joined in (f"{left}{probe}{right}", f"{left}{right}")], tokenizer
    )
    added = [with_probe - bare for with_probe, bare in zip(counts[::2], counts[1::2], strict=True)]
    return Seams(text=text, place=places[added.index(max(added))], tokenizer=tokenizer)


def _sides(text: str, place: int) -> tuple[str, str]:
    return text[max(0, place - _SEAM_CHARACTERS) : place], text[place : place + _SEAM_CHARACTERS]
