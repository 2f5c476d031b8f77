"""Answers of commands, held to the schemas that are published."""

from functools import cache

import jsonschema

from separatrix.app.cli.schema import published


@cache
def validator(name):
    """For the answers of a command; the schema itself is looked at once."""
    schema = published(name)
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)
