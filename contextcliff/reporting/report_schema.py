"""The JSON Schema (draft 2020-12) of `report.json`, made of the records that a report holds.

    python -m contextcliff.reporting.report_schema > docs/report.schema.json

It describes what `reporting/schema.py` writes now. A report of an earlier version may lack keys."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import DataclassSchema, WithDefaultSchema

from contextcliff.findings.finding import FINDINGS, Finding, findings_with
from contextcliff.records.analysis import CAP_RULES, Analysis
from contextcliff.records.report import SCHEMA_VERSION, Counts, Report, RunRecord, Usage
from contextcliff.reporting.data_files import json_text

_NULL: JsonSchemaValue = {"type": "null"}


class _AsWritten(GenerateJsonSchema):
    """Describes a record as it is written: all of its fields and no other key. Of a note or its sentence pydantic
    leaves out the note."""

    def field_is_required(self, *_: Any, **__: Any) -> bool:
        return True

    def field_title_should_be_set(self, _: Any) -> bool:
        return False

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def dataclass_schema(self, schema: DataclassSchema) -> JsonSchemaValue:
        record = schema["cls"]
        written = super().dataclass_schema(schema)
        for name, text in _docstrings(record):
            written["properties"][name]["description"] = _prose(text)
        described = {"description": _prose(inspect.getdoc(record) or ""), "additionalProperties": False}
        return {key: value for key, value in written.items() if key != "title"} | described


def report_schema() -> dict[str, object]:
    """The schema, as JSON's own types."""
    sections = [(section, section.record) for section in findings_with(FINDINGS.values()) if section.record is not None]
    records: list[type[Any]] = [RunRecord, Analysis, Usage, Counts, *(record for _, record in sections)]
    found, generated = TypeAdapter.json_schemas(
        [(place, "serialization", TypeAdapter(record)) for place, record in enumerate(records)],
        union_format="primitive_type_array",
        schema_generator=_AsWritten,
    )
    references = {records[place]: reference for (place, _), reference in found.items()}
    definitions: dict[str, JsonSchemaValue] = generated["$defs"]

    def fields_of(record: type[Any]) -> JsonSchemaValue:
        """What stands at the top level of a report, and not as an object of its own."""
        properties: JsonSchemaValue = definitions.pop(references[record]["$ref"].rpartition("/")[2])["properties"]
        return properties

    run, analysis = fields_of(RunRecord), fields_of(Analysis)
    analysis.pop("findings")
    always = {
        "schema_version": {"const": SCHEMA_VERSION},
        **run,
        **analysis,
        "caps": _caps(analysis["caps"], further=[rule for section, _ in sections for rule in section.cap_rules]),
        "usage": references[Usage],
        "counts": references[Counts],
        "notes": {**analysis["notes"], "description": _prose(inspect.getdoc(Report.notes) or "")},
    }
    findings: JsonSchemaValue = {}
    for section, record in sections:
        written = fields_of(record) if section.inline else {section.key: references[record]}
        findings |= _finding(section, written)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "report.json",
        "description": f"A run's report, schema {SCHEMA_VERSION}. A finding that the run lacks is null.",
        "type": "object",
        "properties": always | findings,
        "required": [*always, "half_life"],
        "additionalProperties": False,
        "$defs": definitions,
    }


def _caps(caps: JsonSchemaValue, *, further: Sequence[str]) -> JsonSchemaValue:
    rules = dict.fromkeys((*CAP_RULES, *further), caps["additionalProperties"])
    return {**caps, "properties": rules, "required": [*CAP_RULES], "additionalProperties": False}


def _finding(section: Finding[Any], written: JsonSchemaValue) -> JsonSchemaValue:
    """What a finding adds to the top level; null stands under its key, also where its fields are inline."""
    absent: JsonSchemaValue = {"description": f"In place of {', '.join(written)} where there are none.", **_NULL}
    return {**written, section.key: {"anyOf": [written[section.key], _NULL]} if section.key in written else absent}


def _docstrings(record: type[Any]) -> Iterator[tuple[str, str]]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(record))).body
    assert isinstance(definition, ast.ClassDef)
    for field, behind in pairwise(definition.body):
        match field, behind:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)


def _prose(docstring: str) -> str:
    paragraphs = (" ".join(paragraph.split()) for paragraph in docstring.split("\n\n"))
    return re.sub(r"\bNone\b", "null", "\n\n".join(paragraphs))


if __name__ == "__main__":
    sys.stdout.write(json_text(report_schema()))
