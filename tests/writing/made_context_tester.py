"""Results as Context-Tester leaves them, of both generations, with figures and words of our own."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_SAMPLED = {"max_tokens": 1024, "temperature": 0.8, "top_k": 100, "top_p": 1.0}
_OF_EMBEDDINGS = ("adjacent_coherence", "global_coherence", "local_coherence_3sent", "coherence_variance")
_TEXT = 'The tide had turned, and "{word}" was all the keeper said.\nNobody, he thought, would come before dark. '


def figures(*, cloze: float, diversity: float, coherence: float = 0.4) -> dict[str, float]:
    """Every measure that it stores of a round."""
    return {
        **{"pct_unfamiliar_words": 0.3, "avg_sentence_length": 20.0, "cloze_score": cloze, "reading_level": 11},
        **{
            "word_count": 700,
            "sentence_count": 35,
            "sentence_length_variance": 90.0,
            "vocabulary_diversity": diversity,
        },
        **{"bigram_repetition_rate": 0.05, "trigram_repetition_rate": 0.01, "unique_word_ratio_100": 0.7},
        **{"word_entropy": 7.4, "char_entropy": 4.2, "comma_density": 1.5},
        **dict.fromkeys(_OF_EMBEDDINGS, coherence),
    }


def made_round(number: int, *, text: str = "", **values: float) -> dict[str, Any]:
    return {
        "round_number": number,
        "continuation_length": 4000 + number,
        "continuation_text": text or _TEXT.format(word=f"wait {number}") * 3,
        **figures(**values),
    }


def result_folder(
    folder: Path, rounds: Mapping[int, Sequence[dict[str, Any]]], *, original: Mapping[str, float] | None = None
) -> Path:
    """A result folder of the second generation."""
    folder.mkdir(parents=True, exist_ok=True)
    for tokens, kept in rounds.items():
        found = {
            "context_length": tokens,
            "num_rounds": len(kept),
            "individual_rounds": list(kept),
            "averaged_stats": {**figures(cloze=20.0, diversity=0.5), "num_rounds": len(kept), "cloze_score_std": 1.0},
        }
        (folder / f"context_{tokens}_results.json").write_text(json.dumps(found), encoding="utf-8")
    told = {
        "experiment_metadata": {
            **{"model_name": "org/GLM-4-9B", "model_id": "20250108-123456", "source_text_name": "harbour"},
            **{"num_rounds": 3, "divisions": 1, "start_context": 2048},
            "generation_params": {**_SAMPLED, "rep_pen": 1.1},
        },
        "context_lengths": sorted(rounds),
        "ground_truth_analysis": dict(original or {}),
    }
    (folder / "metadata.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


def drawn_rounds(lengths: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Five rounds a length that vary."""
    drawn = random.Random(1)
    return {
        tokens: [
            made_round(
                number,
                cloze=20.0 + place + drawn.gauss(0, 1),
                diversity=0.55 - 0.01 * place + drawn.gauss(0, 0.01),
                coherence=0.4 + drawn.gauss(0, 0.02),
            )
            for number in range(1, 6)
        ]
        for place, tokens in enumerate(lengths)
    }


def table(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A CSV file with a column for all that some row has."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        written = csv.DictWriter(stream, fieldnames=dict.fromkeys(key for row in rows for key in row), restval="")
        written.writeheader()
        written.writerows(rows)
    return file


def table_row(tokens: int, *, number: int = 1, **values: Any) -> dict[str, Any]:
    """A row of either generation."""
    return {
        **{"model_name": "GLM-4-9B", "text_name": "harbour", "model_id": "20250108"},
        **{**_SAMPLED, "min_p": 0.02, "rep_pen": 1.1, "context_length": tokens},
        **made_round(number, cloze=20.0, diversity=0.5),
        **values,
    }
