"""The `reporting` section: what is shown while and after a run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contextcliff.settings import settings

LanguageName = Literal["en", "ja"]


@settings
class ReportingSettings:
    """`progress` on stderr, the answers as they are written (`live`) and the risk report (`console`) on stdout,
    `figures` as PNG files at `dpi` dots an inch. A run that is shown live has no progress bar. `language` is that of
    the risk report on the console: `en` or `ja`; the files are in English. With `compare` a sweep ends with the
    comparison of its jobs.
    """

    progress: bool = True
    live: bool = False
    console: bool = True
    figures: bool = True
    dpi: Annotated[int, Field(ge=50, le=600)] = 150
    language: LanguageName = "en"
    compare: bool = False

    @property
    def figure_dpi(self) -> int | None:
        """Dots an inch of every figure; None: no figure is drawn."""
        return self.dpi if self.figures else None
