"""How well a rule does on rows: measures with intervals, by group, and paired comparisons of several rules."""
