"""Tests that mirror the package. A package of their own: `textstat` installs another one of this name."""
