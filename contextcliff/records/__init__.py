"""The frozen records that pass between the stages of a run, in the order in which they arise.

Everything here is plain data: no I/O, no clock, no randomness, no third-party import. Lengths are
in tokens of the run's tokenizer unless the name says otherwise; times are in milliseconds (`_ms`)
or seconds (`_s`); scores are 0-1 and up is better; `None` means "not measured", never zero."""
