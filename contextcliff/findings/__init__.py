"""What a report finds: one file a finding, with its record, computation, sentences, figure and metrics."""
