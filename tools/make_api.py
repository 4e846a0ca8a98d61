#!/usr/bin/env python3
"""Print docs/api.md: the public Python API, from the docstrings of its modules.

make_api.py > docs/api.md      (`make docs` does it)
"""

import enum
import importlib
import inspect
import sys
from collections.abc import Iterator
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import NODEFAULT, Struct, structs

HEAD = """# Python API

These modules are public: their names stay, and fields are only added. Everything else in the
package may change with each version. All functions are synchronous; those of `dos.loop_decide` and
`dos.population` are pure. This page is generated: `make docs` writes it.

```python
from dos.loop_decide import LoopState, IterationOutcome, decide
from dos.oracle import is_shipped

decision = decide(LoopState(), IterationOutcome(kind="SHIPPED", ship_count=1, packet_judge="LIVE"))
print(decision.action, decision.reason)

verdict = is_shipped("AUTH", "AUTH1", workspace=".")
print(verdict.shipped, verdict.reason)
```
"""
MODULES = (
    "dos.loop_decide",
    "dos.population",
    "dos.oracle",
    "dos.agents.adapter",
    "dos.witness.fact",
    "dos.witness.accountability",
)
PLUGINS = """## Entry points for packages

| group | an object with |
|---|---|
| `dos.agents` | the members of `dos.agents.adapter.Adapter` ([agents](fleet.md#agents)) |
| `dos.evidence_sources` | `name`, `accountability`, `gather(subject, config)`\
 ([evidence](evidence.md#add-your-own-source)) |
| `dos.predicates` | a predicate that may refuse a lease (`dos doctor` lists those in use) |
| `dos.judges` | `rule(claim, config)` ([judges](evidence.md#judges)) |
"""


def main() -> int:
    sys.stdout.write(page())
    return 0


def page() -> str:
    parts = [HEAD]
    for name in MODULES:
        parts += module_section(importlib.import_module(name))
    parts.append(PLUGINS)
    return "\n".join(parts).rstrip("\n") + "\n"


def module_section(module: ModuleType) -> Iterator[str]:
    yield f"## `{module.__name__}`\n"
    yield (inspect.getdoc(module) or "") + "\n"
    for name in public_names(module):
        yield from entry(name, getattr(module, name))


def public_names(module: ModuleType) -> list[str]:
    """The names of `__all__`; without one, those that are defined in the module."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def entry(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, type) and issubclass(value, enum.Enum):
        yield f"### `{name}`\n"
        yield text_of(value)
        yield ", ".join(f"`{member.name}`" for member in value) + "\n"
    elif isinstance(value, type) and issubclass(value, Struct):
        yield f"### `{name}`\n"
        yield text_of(value)
        rows = [field_row(field) for field in structs.fields(value)]
        if rows:
            yield "\n".join(["| field | type | default |", "|---|---|---|", *rows]) + "\n"
    elif callable(value):
        yield f"### `{name}{signature(value)}`\n"
        yield text_of(value)


def text_of(value: Any) -> str:
    return (inspect.getdoc(value) or "") + "\n"


def signature(value: Any) -> str:
    if isinstance(value, type):
        return ""
    return str(inspect.signature(value)).replace("'", "").replace("typing.", "")


def field_row(field: structs.FieldInfo) -> str:
    default = "required"
    if field.default is not NODEFAULT:
        default = f"`{short(field.default)}`"
    elif field.default_factory is not NODEFAULT:
        default = "empty"
    return f"| `{field.name}` | `{type_text(field.type)}` | {default} |".replace(
        " | None", " or None"
    )


def short(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Struct):
        return f"{type(value).__name__}()"
    return repr(value)


def type_text(kind: Any) -> str:
    """A type as people write it, without the bounds of its values."""
    origin = get_origin(kind)
    parts = get_args(kind)
    if origin is Annotated:
        return type_text(parts[0])
    if origin in (Union, UnionType):
        return " or ".join(type_text(part) for part in parts)
    if origin is Literal:
        return " or ".join(repr(part) for part in parts)
    if kind is NoneType:
        return "None"
    if kind is Ellipsis:
        return "..."
    name = getattr(origin or kind, "__name__", str(kind))
    if not parts:
        return str(name)
    return f"{name}[{', '.join(type_text(part) for part in parts)}]"


if __name__ == "__main__":
    sys.exit(main())
