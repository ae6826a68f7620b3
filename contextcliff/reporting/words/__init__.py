"""Every sentence that a report says of its facts, by language."""
