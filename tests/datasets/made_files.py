"""Files for tests, made in a few lines: JSON Lines, and a PDF of printed lines."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
WHY_SHARED = "the shared data are not here"

_ENCRYPTED = (
    "eNqNUrtu1EAUFe3QUFNNsxINzIw9Dw9aFshjAQHKahNCASnm5cVosSN7FiX0dDTwB/xBUm2DQAKljhASQqICOloQDUJi7LwsmQLbI12fe+85cx+9"
    "0dLwPLlAQe/rt/0PgEAMC/0Q9PsAjcrCzowrYR9L5pgWOpYDMBgAl9s6JmrFrm1vOohGauIqgBaLWe4hAehmZit4D9IQOIYbrdS4k7qovJoWE3DA"
    "AWvucSuB/lMLoNvOZmqh2AoqOLwUY8jD2agvkXuX+wqyhgqNXVXMShO4a45h8B4YBPIjrfAF2jJkdfRZS/+Wyyf+AWSk9le+dOoReL/zZm/H7T0X"
    "135ePPds7f7Wmd/V6RdPX+9++Xzl3eX1ffdjd/vXqz9n384vDT++nJ/6Pv9UUx9mH4rwTpH1NQFanWnf/NZgaOuCqlxTALrupo+dz4wCaDk3hc3y"
    "CUR3s/xqXmVHQKsK0RJYrwc0htFxPRSH6iGNJJVcRDI4htnUh/GjVa9yq0oL0ErYhUhQSSKBZWIUZmkqKE0tSySWRAtKTKposLVJpYxjRznHzJo0"
    "cTZNDecm9PgO7BtFqXUWpxGhNkkjZUQIodxYm2BHJLYyIQS7OKCJETHHkaFRZCUxSlLC23u4VboUYJgAfPxAzljMYAqPMRIm2HjyE4zJDkZI0sW4"
    "6GCR7PLFkncwKuMTzJcqm7qyaf9q9sSFK6NxUXgYH6zojTwtIDm0l8JK93EiqU4SzUysNWOhI0aoJNZSCuqU1oP/CdlolqPc3vRQHK115VXpm8YJ"
    "LECvt7wyBH8B1bke0A=="
)


def encrypted_pdf() -> bytes:
    """A page that opens with the password `secret`."""
    return zlib.decompress(base64.b64decode(_ENCRYPTED))


def json_lines(file: Path, rows: Iterable[Mapping[str, object]]) -> str:
    """Write one object a line; gives the file's name."""
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(file)


def printed_pdf(pages: Sequence[Sequence[tuple[int, int, str]]]) -> bytes:
    """A PDF of 12-point Helvetica, each line by the place of its first letter on a page of 400 by 600 points."""
    objects = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"]
    kids = []
    for page in pages:
        drawn = b" ".join(b"1 0 0 1 %d %d Tm (%s) Tj" % (x, y, text.encode("cp1252")) for x, y, text in page)
        objects.append(b"<< /Length %d >>\nstream\nBT /F1 12 Tf %s ET\nendstream" % (len(drawn) + 15, drawn))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    return made + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (count, table, count, len(made))
    )
