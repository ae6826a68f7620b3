"""Reads PDF, Word, OpenDocument, RTF, EPUB, HTML, Markdown and text files to plain paragraphs."""
