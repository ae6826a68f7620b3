"""The prose of several runs side by side: who writes better in what, figures, a page, runs of Context-Tester."""
