"""The `reporting` section: what is shown while and after a run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contextcliff.settings import Int, Name, settings

LanguageName = Literal["en", "ja"]
Shown = Literal["full", "summary", "none"]


@settings
class ReportingSettings:
    """`progress` on stderr, and the answer (`console`) on stdout: the `full` risk report, its `summary`, or `none`.
    Left open, a run shows it in full, and a sweep its table alone. `figures` as PNG files at `dpi` dots an inch, and
    the report as a page of its own (`html`). `language` is that of the risk report on the console: `en` or `ja`; the
    files are in English. With `compare` a sweep ends with the comparison of its jobs. `published` names tables of
    published scores (`ruler`, `ruler:llama-3.1-70b`, a file), which are drawn as thin lines behind those of the run."""

    progress: bool = True
    console: Shown | None = None
    figures: bool = True
    html: bool = True
    dpi: Annotated[Int, Field(ge=50, le=600)] = 150
    language: LanguageName = "en"
    compare: bool = False
    published: tuple[Name, ...] = ()

    @property
    def prints(self) -> bool:
        """Whether a result is said on stdout at all."""
        return self.console != "none"

    def shown(self, *, of_sweep: bool) -> Shown:
        """How much of a run's report is printed; `of_sweep`: the run is a job of one, which has a table of its own."""
        return self.console or ("none" if of_sweep else "full")

    @property
    def figure_dpi(self) -> int | None:
        """Dots an inch of every figure; None: no figure is drawn."""
        return self.dpi if self.figures else None
