"""Tables in: files of any usual kind, how their columns are read, and the numbers that learners see."""
