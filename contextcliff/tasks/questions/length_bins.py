"""Which questions are asked: documents of natural length in bins, and as many questions of each bin.

Nothing is cut or padded to fill a bin (the blueprint's natural-length commitment), so a bin is what the dataset has.
Pure: the same corpus, counts and seed give the same draw.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from contextcliff.records.corpus import Question
from contextcliff.seeding import seed_of
from contextcliff.statistics.descriptive import quantile_classes


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthBin:
    """A range of document lengths in tokens, both ends included, and the questions drawn from it.

    `available` and `all_documents` count what there is; `documents` those of the drawn questions.
    """

    min_tokens: int
    max_tokens: int
    available: int
    all_documents: int
    documents: int
    questions: tuple[Question, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """The bins, shortest first, and what a reader has to know of how they came about."""

    bins: tuple[LengthBin, ...]
    notes: tuple[str, ...]


def draw(
    questions: Sequence[Question],
    lengths: Mapping[str, int],
    *,
    bins: int,
    binning: str,
    per_bin: int,
    min_samples: int,
    seed: int,
) -> Draw:
    """Put documents into bins by their length in tokens, and draw up to `per_bin` questions of each.

    `quantile` bins hold about as many documents each, equal lengths never in two; `fixed` ones are equally wide.
    A bin with fewer than `min_samples` questions is merged with the smaller of its neighbours, and that is noted.
    Questions are drawn round the documents of a bin, so that as many documents as can be have a part.
    """
    by_document: defaultdict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_document[question.document_id].append(question)
    ordered = sorted(by_document, key=lambda name: (lengths[name], name))
    groups = _BINNINGS[binning](ordered, lengths, bins)
    merged, notes = _merged(groups, by_document, min_samples, lengths)
    length_bins = tuple(_bin(names, by_document, lengths, per_bin, seed) for names in merged)
    return Draw(bins=length_bins, notes=(*notes, *_starved(length_bins, per_bin)))


def redraw(questions: Sequence[Question], lengths: Mapping[str, int], drawn: Sequence[Sequence[str]]) -> Draw:
    """The draw of an earlier run again, by its question ids; what can't be asked any more is noted."""
    known = {question.question_id: question for question in questions}
    asked_again = [[known[name] for name in names if name in known] for names in drawn]
    missing = sum(name not in known for names in drawn for name in names)
    bins = tuple(
        LengthBin(
            min_tokens=min(lengths[question.document_id] for question in part),
            max_tokens=max(lengths[question.document_id] for question in part),
            available=len(part),
            all_documents=len({question.document_id for question in part}),
            documents=len({question.document_id for question in part}),
            questions=tuple(part),
        )
        for part in asked_again
        if part
    )
    notes = (f"{missing} questions of the earlier run do not fit any more and are left out",) if missing else ()
    return Draw(bins=bins, notes=notes)


def _by_quantile(ordered: Sequence[str], lengths: Mapping[str, int], bins: int) -> list[list[str]]:
    ties: defaultdict[int, list[str]] = defaultdict(list)
    for name in ordered:
        ties[lengths[name]].append(name)
    classes = quantile_classes([lengths[name] for name in ordered], bins)
    return [[name for length in group for name in ties[length]] for group in classes]


def _by_width(ordered: Sequence[str], lengths: Mapping[str, int], bins: int) -> list[list[str]]:
    low, high = lengths[ordered[0]], lengths[ordered[-1]]
    width = (high - low + 1) / bins
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for name in ordered:
        groups[min(bins - 1, int((lengths[name] - low) / width))].append(name)
    return [groups[position] for position in sorted(groups)]


_BINNINGS = {"quantile": _by_quantile, "fixed": _by_width}


def _merged(
    groups: list[list[str]],
    by_document: Mapping[str, Sequence[Question]],
    min_samples: int,
    lengths: Mapping[str, int],
) -> tuple[list[list[str]], list[str]]:
    """Merge the thinnest bin with its smaller neighbour until none is too thin, or one is left."""
    groups, notes = [list(names) for names in groups], []
    while len(groups) > 1:
        sizes = [sum(len(by_document[name]) for name in names) for names in groups]
        thinnest = min(range(len(groups)), key=lambda position: sizes[position])
        if sizes[thinnest] >= min_samples:
            break
        neighbours = [position for position in (thinnest - 1, thinnest + 1) if 0 <= position < len(groups)]
        other = min(neighbours, key=lambda position: sizes[position])
        first, second = sorted((thinnest, other))
        notes.append(
            f"the bin of {_range(groups[thinnest], lengths)} has {sizes[thinnest]} questions, fewer than "
            f"task.min_samples={min_samples}, and is merged with that of {_range(groups[other], lengths)}"
        )
        groups[first : second + 1] = [groups[first] + groups[second]]
    return groups, notes


def _bin(
    names: Sequence[str],
    by_document: Mapping[str, Sequence[Question]],
    lengths: Mapping[str, int],
    per_bin: int,
    seed: int,
) -> LengthBin:
    shuffled = sorted(names, key=lambda name: seed_of("draw", seed, name))
    rounds = zip_longest(*(_shuffled(by_document[name], seed) for name in shuffled))
    chosen = [question for around in rounds for question in around if question is not None][:per_bin]
    return LengthBin(
        min_tokens=min(lengths[name] for name in names),
        max_tokens=max(lengths[name] for name in names),
        available=sum(len(by_document[name]) for name in names),
        all_documents=len(names),
        documents=len({question.document_id for question in chosen}),
        questions=tuple(chosen),
    )


def _shuffled(questions: Sequence[Question], seed: int) -> list[Question]:
    shuffled = sorted(questions, key=lambda question: question.question_id)
    random.Random(seed_of("draw", seed, shuffled[0].document_id)).shuffle(shuffled)
    return shuffled


def _starved(bins: Sequence[LengthBin], per_bin: int) -> list[str]:
    return [
        f"the bin of {part.min_tokens:,} to {part.max_tokens:,} tokens is starved: {part.available} questions, and "
        f"{per_bin} are asked for (task.samples_per_bin, task.pilot)"
        for part in bins
        if part.available < per_bin
    ]


def _range(names: Sequence[str], lengths: Mapping[str, int]) -> str:
    tokens = [lengths[name] for name in names]
    return f"{min(tokens):,} to {max(tokens):,} tokens"
