"""A sample as JSON in the store: flat, with the fields of its reference beside its own."""

from __future__ import annotations

import json
from dataclasses import fields

from pydantic import TypeAdapter

from contextcliff.records.sample import Reference, Sample

_sample = TypeAdapter(Sample)
_REFERENCE = "reference"
_OF_REFERENCE = tuple(field.name for field in fields(Reference))


def sample_to_json(sample: Sample) -> str:
    """The JSON object of a sample."""
    values = _sample.dump_python(sample, mode="json")
    return json.dumps({**values.pop(_REFERENCE), **values}, ensure_ascii=False)


def sample_from_json(text: str) -> Sample:
    """Read it back. Raises `ValueError` for JSON that is no sample."""
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("a sample is a JSON object")
    reference = {name: values.pop(name) for name in _OF_REFERENCE if name in values}
    return _sample.validate_python({**values, _REFERENCE: reference})
