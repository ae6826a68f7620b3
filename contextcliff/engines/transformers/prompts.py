"""A prompt as tokens, and where in them the question begins."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from contextcliff.errors import EngineFault
from contextcliff.records.sample import Passage, Prompt, Sample, Words
from contextcliff.text.tokenizers import HubTokenizer
from contextcliff.text.tokens import messages, plain_text


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptTokens:
    """The tokens of a prompt; the first `context` of them are before the question."""

    tokens: tuple[int, ...]
    context: int


def prompt_tokens(tokenizer: HubTokenizer, sample: Sample, prompt: Prompt, *, splits: bool) -> PromptTokens:
    """Tokenise a prompt once, and cut between two of its tokens; without `splits` all of it is the question.

    Context and question that are tokenised apart can be other tokens than the prompt. A token that reaches into the
    question is the question's. Raises `EngineFault` where the chat template changes the prompt, so that no question
    can be found in it.
    """
    text = _framed(tokenizer, prompt)
    place = _question_start(sample, prompt, text) if splits else 0
    encoded = tokenizer.tokenizer(
        text, add_special_tokens=tokenizer.plain, return_offsets_mapping=True, return_tensors=None, verbose=False
    )
    ends = [end for _, end in encoded["offset_mapping"]]
    return PromptTokens(tokens=tuple(encoded["input_ids"]), context=bisect_left(ends, place + 1) if splits else 0)


def _framed(tokenizer: HubTokenizer, prompt: Prompt) -> str:
    if tokenizer.plain:
        return plain_text(prompt)
    framed: str = tokenizer.tokenizer.apply_chat_template(
        messages(prompt), add_generation_prompt=True, tokenize=False, **tokenizer.template_arguments
    )
    return framed


def _question_start(sample: Sample, prompt: Prompt, text: str) -> int:
    """The character of the framed prompt at which the question begins.

    That is what stands after the last passage of a document; in a prompt without passages the question as it stands
    last. Where nothing stands after the text, the template's end alone comes after it. In a conversation it is sought
    in the last message, since an earlier one may say the same.
    """
    context = _context_of(sample, prompt).rstrip()
    find = text.rfind if prompt.turns else text.find
    if prompt.turns and not context:  # the last message is the question, and the earlier turns are its context
        return max(0, find(prompt.user.strip()))
    start = find(context)
    if start < 0:
        context = context.lstrip()
        start = find(context)
    if start < 0:
        raise EngineFault(
            "bad_request",
            "the chat template changes the prompt, so that the context can't be told from the question; "
            "engine.api=completions sends it as it stands",
        )
    return start + len(context)


def _context_of(sample: Sample, prompt: Prompt) -> str:
    pieces = sample.recipe.user
    last = max((place for place, piece in enumerate(pieces) if isinstance(piece, Passage)), default=None)
    if last is not None:
        after = sum(len(piece.text) for piece in pieces[last + 1 :] if isinstance(piece, Words))
        return prompt.user[: len(prompt.user) - after]
    place = prompt.user.rfind(sample.question) if sample.question else -1
    is_context = place > 0 or (place == 0 and prompt.turns)
    return prompt.user[:place] if is_context else prompt.user
