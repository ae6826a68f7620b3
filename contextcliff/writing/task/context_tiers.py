"""The context lengths of the task `continuation`: powers of two up to the longest, and points between them."""

from __future__ import annotations


def context_tiers(*, start: int, longest: int, divisions: int, answer_tokens: int) -> tuple[int, ...]:
    """Lengths in tokens, ascending and distinct, from the least power of two that is no less than `start` and twice the
    answer, up to `longest`, which is one itself.

    `divisions` points are put between each length and its double, in geometric steps and rounded: one between 2,048
    and 4,096 is 2,896. Where `longest` is below the first power of two it is the only length. Raises `ValueError` for
    divisions that are neither 0 nor a power of two, and where `longest` has no room for twice the answer.
    """
    _check_divisions(divisions)
    least = 2 * answer_tokens
    if longest < max(least, 1):
        raise ValueError(
            f"the longest context has {longest:,} tokens, and an answer of {answer_tokens:,} needs {least:,}; ask for "
            "a shorter answer, or give a longer context"
        )
    first = _power_of_two_from(max(start, least, 1))
    tiers = {longest}
    octave = first
    while octave <= longest:
        steps = (round(octave * 2 ** (step / (divisions + 1))) for step in range(divisions + 1))
        tiers.update(tier for tier in steps if tier <= longest)
        octave *= 2
    return tuple(sorted(tiers))


def _check_divisions(divisions: int) -> None:
    if divisions < 0 or divisions & (divisions - 1):
        below = 1 << (divisions.bit_length() - 1) if divisions > 0 else 0
        raise ValueError(f"task.divisions={divisions}: must be 0 or a power of two; take {below} or {2 * below or 1}")


def _power_of_two_from(least: int) -> int:
    return 1 << (least - 1).bit_length()
