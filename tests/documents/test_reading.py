"""Documents of every kind are read to the same plain text, or give the reason why not."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from contextcliff.documents import containers
from contextcliff.documents.containers import UnreadableError, decode
from contextcliff.documents.html_text import html_text
from contextcliff.documents.pdf_text import pdf_text
from contextcliff.documents.reader import documents_in, read_document
from tests.datasets.made_files import SHARED, WHY_SHARED, encrypted_pdf, printed_pdf

pytest.importorskip("docx", reason="the extra docs-in is not installed")
pytest.importorskip("pypdfium2", reason="the extra docs-in is not installed")
pytest.importorskip("striprtf", reason="the extra docs-in is not installed")

DOCUMENTS = SHARED / "documents"
shared = pytest.mark.skipif(not DOCUMENTS.is_dir(), reason=WHY_SHARED)


def read(folder: Path, name: str, data: bytes) -> str:
    """The text of a file of these bytes."""
    (folder / name).write_bytes(data)
    return read_document(folder / name)


def bare(text: str) -> str:
    """What the kinds of file have in common: one sort of dash, one sort of blank."""
    return " ".join(text.replace("—", "--").split())


@shared
@pytest.mark.parametrize("suffix", ["docx", "epub", "html", "pdf", "txt"])
def test_one_text_reads_the_same_from_every_kind_of_file(suffix: str) -> None:
    expected = (DOCUMENTS / "little_women_ch1-4.txt").read_text(encoding="utf-8")
    text = read_document(DOCUMENTS / f"little_women_ch1-4.{suffix}")
    # A title page and a table stand in some of them beside the text.
    assert bare(expected) in bare(text)
    assert len(text) - len(expected) < 200
    missing = {bare(paragraph) for paragraph in expected.split("\n\n")} - {bare(part) for part in text.split("\n\n")}
    assert not missing


def test_html_keeps_what_is_read_drops_what_surrounds_it_and_reads_a_table_of_layout_as_paragraphs() -> None:
    page = """<html><head><title>T</title><style>p{}</style></head><body><nav>Menu</nav><h1>Head</h1>
        <p>One<br>two <b>bo</b>ld &amp; &mdash;.</p>loose<div>block</div><ul><li>a<li>b</ul><pre>x\n  y</pre>
        <table><tr><th>N<td>1<tr><th>M<td>2</table><ruby>字<rt>じ</rt></ruby><!-- no --><script>no()</script>
        <button>Press</button><p hidden>hidden</p><footer>Imprint</footer></body></html>"""
    assert html_text(page) == "Head\n\nOne\ntwo bold & —.\n\nloose\n\nblock\n\na\nb\n\nx\n  y\n\nN | 1\nM | 2\n\n字"
    laid_out = "<table><tr><td><p>One.</p><p>Two.</p></td><td><p>Three.</p></td></tr></table>"
    assert html_text(laid_out) == "One.\n\nTwo.\n\nThree."


def test_text_is_decoded_by_mark_then_by_declaration_then_as_utf_8() -> None:
    cases = (
        (b"\xef\xbb\xbfa\r\nb\rc", "a\nb\nc"),
        ("é".encode("utf-16"), "é"),
        (b"<meta charset=latin1>\x93\xe9\x94", "<meta charset=latin1>“é”"),
        (b"<?xml version='1.0' encoding='EUC-JP'?>\xb0\xec", "<?xml version='1.0' encoding='EUC-JP'?>一"),
        (b"<meta http-equiv=x content='text/html; charset=x-sjis'>\x88\xea", "一"),
        (b"<meta charset=windows-31j>\x87\x40", "①"),
        (b"<meta charset=ks_c_5601-1987>\xb0\xa1", "가"),
        (b"<meta charset=iso-8859-11>\xa1", "ก"),
        (b"<meta charset=utf-16le>\xc3\xa9", "é"),
    )
    assert [(data, text) for data, text in cases if not decode(data, declares=True).endswith(text)] == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xe9", "is not UTF-8 text, and declares no other character set"),
        (b"<meta charset=Shift_JIS>\x81", "is not CP932 text, although it declares to be"),
        (b"<meta charset=utf-7>", "declares the character set utf-7, which is unknown"),
        (b"<meta charset=rot13>", "declares the character set rot13, which is unknown"),
    ],
)
def test_a_character_set_is_never_guessed(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        decode(data, declares=True)
    assert raised.value.reason == reason


def test_printed_lines_become_paragraphs() -> None:
    page = [
        (50, 560, "A Head"),
        (50, 500, "A paragraph goes over more than a line and breaks a long wo-"),
        (50, 486, "rd, a well-known one, at the end of its second printed line to"),
        (50, 472, "end here."),
        (62, 458, "Set in, so it is the next paragraph of the text that is print-"),
        (50, 444, "ed here; the well-"),
        (50, 430, "known one stays."),
        (50, 400, "Apart from"),
        (50, 386, "it, a verse."),
        (200, 30, "1"),
    ]
    pages = [page, *([(50, 560, "A Head"), (50, 500, f"{word} page."), (200, 30, str(number))] for number, word in
                     enumerate(("Second", "Third"), start=2))]  # fmt: skip
    assert pdf_text(printed_pdf(pages)).split("\n\n") == [
        "A paragraph goes over more than a line and breaks a long word, a well-known one, at the end of its second "
        "printed line to end here.",
        "Set in, so it is the next paragraph of the text that is printed here; the well-known one stays.",
        "Apart from\nit, a verse.",
        "Second page.",
        "Third page.",
    ]


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    container = io.BytesIO()
    with zipfile.ZipFile(container, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return container.getvalue()


def word_file(body: str) -> bytes:
    import docx

    made = docx.Document()
    made.add_paragraph("MARK")
    container = io.BytesIO()
    made.save(container)
    mark, old = b"<w:p><w:r><w:t>MARK</w:t></w:r></w:p>", zipfile.ZipFile(container)
    return zipped({name: old.read(name).replace(mark, body.encode()) for name in old.namelist()})


def test_word_files_are_read_as_they_look_when_all_changes_are_accepted(tmp_path: Path) -> None:
    made = word_file(
        "<w:p><w:r><w:t>One</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t></w:r>"
        "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:ins><w:r><w:t>!</w:t></w:r></w:ins></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>Controlled</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>b</w:t>"
        "</w:r></w:p></w:tc></w:tr></w:tbl><w:p/></w:tc></w:tr></w:tbl>"
    )
    assert read(tmp_path, "a.docx", made) == "One two\nthree!\n\nControlled\n\na | b"


def open_document(body: str, *, manifest: str = "<m/>") -> bytes:
    """An ODT file as LibreOffice writes it, around the given body."""
    names = {"office": "office", "text": "text", "table": "table", "draw": "drawing", "dc": "dc"}
    oasis = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(f'xmlns:{short}="{oasis}:{name}:1.0"' for short, name in names.items())
    content = (
        f"<?xml version='1.0' encoding='UTF-8'?><office:document-content {spaces}><office:body><office:text>{body}"
        "</office:text></office:body></office:document-content>"
    )
    members = {"mimetype": "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml": manifest}
    return zipped({**members, "content.xml": content})


def test_open_document_files_are_read_as_they_look_when_all_changes_are_accepted(tmp_path: Path) -> None:
    made = open_document(
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes><text:table-of-content><text:p>Contents</text:p>"
        "</text:table-of-content><text:h>A Head</text:h>"
        "<text:p>One<text:tab/>two<text:line-break/><text:span>th<text:change/>ree</text:span>\n   <text:s/>"
        "four<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>a note</text:p>"
        "</text:note-body></text:note>!<office:annotation><text:p>remark</text:p></office:annotation><!-- no -->"
        "<draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame></text:p><text:p/>"
        "<text:section><text:list><text:list-item><text:p>an item</text:p></text:list-item></text:list>"
        "</text:section><text:p><text:ruby><text:ruby-base>字</text:ruby-base><text:ruby-text>じ</text:ruby-text>"
        "</text:ruby>だ</text:p><table:table><table:table-header-rows><table:table-row><table:table-cell>"
        "<text:p>a</text:p><text:p>b</text:p></table:table-cell><table:table-cell><text:p>c</text:p></table:table-cell></table:table-row>"
        "</table:table-header-rows><table:table-row><table:table-cell><text:p>d</text:p></table:table-cell>"
        "<table:covered-table-cell/></table:table-row></table:table>"
    )
    assert read(tmp_path, "a.odt", made) == (
        "A Head\n\nOne two\nthree  four!\n\nBoxed\n\nan item\n\n字だ\n\na b | c\nd"
    )


RTF = r"""{\rtf1\ansi\ansicpg1252\deff0\uc1
{\fonttbl{\f0\froman\fcharset0 Times New Roman;}{\f1\fnil\fcharset128 MS Mincho;}}
{\colortbl;\red255\green0\blue0;}{\stylesheet{\s1 heading 1;}}{\*\generator Riched20 10.0;}{\info{\title Hidden title}}
{\header\pard Running head\par}
\pard\s1\b A Head\b0\par
\pard Caf\'e9 \ldblquote na\u239?ve\rdblquote\~\emdash  one\line two
 \u-28032?\u27827?, \u-10179?\u-8704?. A \\par of braces \{\}.\par
{\f1\'93\'fa\'96\'7b}{\deleted gone}{\footnote a note}{\field{\*\fldinst{HYPERLINK "http://x.invalid/"}}{\fldrslt{linked}}}\
{\*\shppict{\pict\pngblip HEX}}{\pict\wmetafile8\bin5 }{}}{x}the end of it\u8217?\par
\trowd\cellx1\cellx2\pard\intbl a\par b\cell c\cell\row
\trowd\cellx1\cellx2\pard\intbl d\cell\cell\row
\pard After.\par}""".replace("HEX", "0123456789abcdef" * 64)


def test_rich_text_is_read_as_it_looks_when_all_changes_are_accepted(tmp_path: Path) -> None:
    assert read(tmp_path, "a.rtf", RTF.encode("ascii")) == (
        "A Head\n\nCafé “naïve”\xa0— one\ntwo 銀河, 😀. A \\par of braces {}.\n\n日本linked\n\nthe end of it’\n\n"
        "a b | c\nd |\n\nAfter."
    )
    # Bytes that a program wrote against the rules are of the declared code page.
    assert read(tmp_path, "a.rtf", r"{\rtf1\ansi\ansicpg1251 Да.\par}".encode("cp1251")) == "Да."


def book(pages: dict[str, str], *, locked: str = "", times: int = 1) -> bytes:
    """A book whose spine names each page so many times."""
    kinds = {"nav.xhtml": ' properties="nav"'}
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"{kinds.get(name, "")}/>' for name in pages
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in pages) * times
    lock = {"META-INF/encryption.xml": f'<e><CipherReference URI="{locked}"/></e>'} if locked else {}
    return zipped(
        {
            "META-INF/container.xml": '<c><rootfiles><rootfile full-path="OPS/p.opf"/></rootfiles></c>',
            "OPS/p.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"OPS/{name}": text for name, text in pages.items()},
            **lock,
        }
    )


def test_a_book_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    pages = {
        "b.xhtml": "<html><head><title/></head><body><script src='x'/><p>First&nbsp;page.</p></body></html>",
        "nav.xhtml": "<p>Contents</p>",
        "a.xhtml": "<p>Second page.</p>",
    }
    assert read(tmp_path, "a.epub", book(pages, locked="fonts/x.otf")) == "First page.\n\nSecond page."


def test_markdown_and_text_stay_as_they_are_written_but_for_comments(tmp_path: Path) -> None:
    assert read(tmp_path, "a.md", b"# Head\r\n\n\n- <!-- not\nthis -->a <!-- open") == "# Head\n\n- a <!-- open"
    assert read(tmp_path, "a.txt", "\ufeffOne.\n \n\n  Two.\n".encode()) == "One.\n\n  Two."


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {chr(98 + i)} '{('&' + chr(97 + i) + ';') * 10}'>" for i in range(9)
)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.pdf", b"%PDF-1.4 and nothing", "is not a valid PDF file"),
        ("a.pdf", encrypted_pdf(), "is encrypted"),
        ("a.pdf", printed_pdf([[]]), "holds no text (it is scanned or empty, and needs OCR first)"),
        ("a.docx", b"PK nothing", "is not a valid DOCX file"),
        (
            "a.docx",
            b"\xd0\xcf\x11\xe0...",
            "is encrypted or in the format of Word 97; save it as DOCX without a password",
        ),
        ("a.odt", zipped({}), "is not a valid ODT file: content.xml is missing from it"),
        ("a.odt", open_document("<text:p/>"), "holds no text"),
        ("a.odt", open_document("<text:p>"), "is not a valid ODT file: content.xml in it is not XML"),
        ("a.odt", open_document("x", manifest="<m><encryption-data/></m>"), "is encrypted"),
        ("a.rtf", rb"{\rtf1\ansi\ansicpg932 \'93}", "is not CP932 text, although it declares to be"),
        ("a.rtf", rb"{\rtf1 \u99999999999 }", "is not a valid RTF file"),
        ("a.epub", book({}), "is not a valid EPUB file: it has no pages"),
        (
            "a.epub",
            zipped({"META-INF/container.xml": f"{BOMB}]><c><rootfile full-path='x'/>&j;</c>"}),
            "is not a valid EPUB file: META-INF/container.xml in it is not XML",
        ),
        ("a.epub", book({"a.xhtml": "x"}, locked="OPS/a.xhtml"), "is encrypted"),
        ("a.html", b"<script>x</script>", "holds no text"),
        ("a.html", b"<div>" * 5_000 + b"x", "nests its elements too deeply to be read"),
        ("a.txt", b"a\0b", "is binary, not text"),
        ("a.txt", None, "can't be read (No such file or directory)"),
    ],
)
def test_a_file_without_text_gives_the_reason(tmp_path: Path, name: str, data: bytes | None, reason: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UnreadableError) as raised:
        read_document(tmp_path / name)
    assert raised.value.reason == reason


def test_a_container_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_MAX_UNPACKED_BYTES", 1_000)
    with pytest.raises(UnreadableError, match="unpacks to more than 512 MiB"):
        read(tmp_path, "a.epub", zipped({"zeros": bytes(1_001)}))


def test_the_documents_of_a_folder_are_its_visible_files_of_a_known_kind_by_name(tmp_path: Path) -> None:
    for name in ("b.TXT", "a.pdf", ".hidden.txt", "picture.png"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "folder.txt").mkdir()
    assert [file.name for file in documents_in(tmp_path, place="here")[0]] == ["a.pdf", "b.TXT"]
