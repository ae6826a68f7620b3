"""Where texts and questions come from: one class for each option of the group `dataset`."""
