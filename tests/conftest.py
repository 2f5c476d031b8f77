"""Settings of the whole suite."""

from hypothesis import settings

# The same examples in every run, and no limit on their time: a busy machine must not fail a law.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
