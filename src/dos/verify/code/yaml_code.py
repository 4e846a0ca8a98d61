"""Whether two texts of YAML say the same: all but comments, layout and the kind of quotes."""

import re

LARGEST_TEXT = 60_000  # characters of a text that is parsed
_MOST_BRACKETS = 200  # the parser looks at each open one with every token
_BRACKET = re.compile(r"[\[{]")


def is_same_document(old: str, new: str) -> bool:
    """Whether two texts are parsed alike, keys and values in their order; False in doubt.

    What a plain value means is not asked: readers differ about `on` and `012`.
    """
    if any(map(_is_too_large, (old, new))):
        return False
    events = _events(old)
    return events is not None and events == _events(new)


def _is_too_large(text: str) -> bool:
    return len(text) > LARGEST_TEXT or len(_BRACKET.findall(text)) > _MOST_BRACKETS


def _events(text: str) -> list[tuple[object, ...]] | None:
    """What a parser finds in a text, without places and styles; None if it is no YAML."""
    import yaml  # at use: few texts come this far

    try:
        return [
            (
                type(event).__name__,
                getattr(event, "anchor", None),
                getattr(event, "tag", None),
                getattr(event, "implicit", None),
                getattr(event, "value", None),
            )
            for event in yaml.parse(text, Loader=yaml.SafeLoader)
        ]
    except (yaml.YAMLError, ValueError):
        return None
