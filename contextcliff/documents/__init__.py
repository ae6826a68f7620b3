"""Documents as people have them, read to plain paragraphs: PDF, Word, OpenDocument, RTF, EPUB, HTML, Markdown, text."""
