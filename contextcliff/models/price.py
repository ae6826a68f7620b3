"""What tokens cost, and how a sum of dollars is shown."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal

from contextcliff.settings import NonNegativeFloat, settings

_CENT_DIGITS = 2
_SIGNIFICANT_DIGITS = 3
_TOKENS_PER_PRICE = 1e6


@settings
class Price:
    """US dollars per million tokens; None where the price is unknown."""

    input: NonNegativeFloat | None = None
    cached_input: NonNegativeFloat | None = None
    output: NonNegativeFloat | None = None

    @property
    def is_known(self) -> bool:
        """Whether input and output both have a price, so that a cost can be computed."""
        return self.input is not None and self.output is not None

    def of(self, *, computed_tokens: int, cached_tokens: int, completion_tokens: int) -> float | None:
        """Cost in US dollars; None where a price is unknown. Cached tokens without a price cost as much as input."""
        if self.input is None or self.output is None:
            return None
        cached = self.input if self.cached_input is None else self.cached_input
        dollars_per_million = computed_tokens * self.input + cached_tokens * cached + completion_tokens * self.output
        return dollars_per_million / _TOKENS_PER_PRICE


def dollars(value: float, *, at_most: bool = False) -> str:
    """A sum in USD: two decimals from one dollar up, three significant digits below, so that none reads as 0.00.

    `at_most` rounds up, so that an upper bound never reads as less than it is.
    """
    exact = Decimal(repr(value))
    small = bool(exact) and abs(exact) < 1
    decimals = max(_CENT_DIGITS, _SIGNIFICANT_DIGITS - 1 - exact.adjusted()) if small else _CENT_DIGITS
    rounding = Context(prec=400, rounding=ROUND_CEILING if at_most else ROUND_HALF_EVEN)
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), context=rounding)
    whole, _, cents = f"{rounded:,f}".partition(".")
    return f"{whole}.{cents.rstrip('0'):0<{_CENT_DIGITS}} USD"
