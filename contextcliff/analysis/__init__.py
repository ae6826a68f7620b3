"""From scored samples to a safe cap: bins, intervals, tests, zones and the sentences that go with them."""
