"""Results of Context-Tester, read from its files and summarised as this project's own."""
