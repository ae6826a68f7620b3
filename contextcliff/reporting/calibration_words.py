"""What the laws and designs of a calibration are called, in tables and in the figure."""

from __future__ import annotations

from collections.abc import Mapping

LAW_TITLES: Mapping[str, str] = {
    "cliff_early": "cliff early, halfway between lengths",
    "cliff_at_length": "cliff, the threshold at a length",
    "cliff_after_length": "cliff just after a length",
    "cliff_between": "cliff halfway between lengths",
    "cliff_before_length": "cliff just before a length",
    "cliff_late": "cliff before the longest length",
    "slope_at_length": "slope, the threshold at a length",
    "slope_between": "slope, crossing between lengths",
    "step_to_threshold": "step down to the threshold",
    "threshold_between": "at the threshold between lengths",
    "flat_98": "flat at 0.98",
    "flat_95": "flat at 0.95",
    "flat_90": "flat at 0.90",
    "flat_85": "flat at 0.85",
    "flat_threshold": "flat at the threshold",
    "dip_94": "one depth at 0.4, mean 0.94",
    "dip_threshold": "one depth at 0.4, mean the threshold",
    "hopeless_threshold": "hopeless depths, mean the threshold",
    "texts_0": "texts, ICC 0",
    "texts_05": "texts, ICC 0.05",
    "texts_15": "texts, ICC 0.15",
    "texts_30": "texts, ICC 0.3",
    "texts_95": "texts, ICC 0.15, flat at 0.95",
    "ignored_05": "texts ignored, ICC 0.05",
    "ignored_15": "texts ignored, ICC 0.15",
    "ignored_30": "texts ignored, ICC 0.3",
    "graded_threshold": "graded, flat at the threshold",
    "graded_90": "graded, flat at 0.90",
    "graded_slope": "graded slope",
    "relative_95": "share of a baseline of 0.95",
    "relative_70": "share of a baseline of 0.70",
    "relative_50": "share of a baseline of 0.50",
    "relative_cliff": "cliff from a baseline of 0.95",
    "natural_slope": "documents, slope",
    "natural_cliff": "documents, cliff",
}
"""One short line a law."""

DESIGN_TITLES: Mapping[str, str] = {
    "walk": "search=walk",
    "refine": "search=refine",
    "fixed_40": "40 a length",
    "fixed_500": "500 a length",
}

NOTES: tuple[str, ...] = (
    "error: share of runs whose cap lies at a length whose true score is not above the threshold, with Wilson's 95% "
    "interval",
    "cap: share of runs with a cap; whole range: share that clears the longest length",
    "octaves lost: median over all runs of log2(true crossing / cap), of the longest length where there is no crossing "
    "before it; -: more than half of the runs have no cap, or no cap could be right",
    "tokens: prompt tokens asked, each prompt in full, beside the same law with 40 and with 500 samples a length",
    "cliff: from 0.98 to 0.05 within a tenth of an octave; slope: within three octaves; flat at the threshold: the "
    "null hypothesis at every length; share of a baseline: exactly the threshold's share of it at every longer length",
    "texts: five samples share a text, flat at the threshold; with the texts as the evidence, as task.haystacks=N "
    "counts them, and (ignored) with every sample as evidence of its own",
    "documents: a question on each of documents of any length, in ten bins, against a share of the first bin's score; "
    "the crossing lies late in a bin, where it is least favourable: the mean of that bin clears though its longest "
    "documents don't. The cap is the shortest prompt of the last bin that cleared",
    "a relative threshold has a cap only where a length beyond the baseline has cleared it",
)
