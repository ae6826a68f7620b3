"""Imports the results of Context-Tester, another tool for continuation runs."""
