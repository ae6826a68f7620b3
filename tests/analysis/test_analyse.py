"""The whole analysis."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.make import analysed, fractional


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(min_value=1, max_value=5_000), st.sampled_from([0.0, 0.2, 1.0, None])), max_size=30),
    st.sampled_from([0.0, 0.1, 0.5, 0.8, 0.99, 1.0]),
    st.sampled_from([0.6, 0.95, 0.999]),
    st.booleans(),
    st.booleans(),
)
def test_any_samples_have_an_analysis(
    items: list[tuple[int, float | None]], threshold: float, confidence: float, relative: bool, designed: bool
) -> None:
    found = analysed(
        fractional({n: [s for m, s in items if m == n] for n, _ in items}),
        threshold=threshold,
        confidence=confidence,
        relative=relative,
        designed=designed,
        bins=4,
    )
    assert found.safe_cap.verdict in {"cliff", "slope", "flat", "insufficient_evidence"}
    assert found.safe_cap.reason
    assert "None" not in str(found.safe_cap.reason)
    assert "nan" not in str(found.safe_cap.reason)
