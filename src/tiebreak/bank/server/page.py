"""The page that describes the API, made of its OpenAPI document; it needs no script."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any


def page(document: Mapping[str, Any]) -> str:
    """HTML of an OpenAPI document: every address, what it takes, what it answers."""
    parts = [
        f'<section id="{escape(operation["operationId"])}">'
        f"<h2><code>{method.upper()} {escape(path)}</code></h2>"
        f"<p>{escape(operation.get('description', ''))}</p>"
        f"{_takes(operation)}{_answers(operation)}</section>"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    shapes = [
        f'<section id="{escape(name)}"><h3>{escape(name)}</h3>'
        f"<p>{escape(shape.get('description', ''))}</p>{_fields(shape)}</section>"
        for name, shape in document["components"]["schemas"].items()
    ]
    title = escape(document["info"]["title"])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><main><h1>{title}</h1><p>Every request but /health shows a token: "
        "<code>Authorization: Bearer TOKEN</code>. The same as data: "
        f'<a href="/openapi.json">openapi.json</a>.</p>{"".join(parts)}'
        f"<h2>Shapes</h2>{''.join(shapes)}</main></body></html>"
    )


def _takes(operation: Mapping[str, Any]) -> str:
    rows = [
        (given["name"], given["in"], given["schema"]) for given in operation.get("parameters", ())
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    rows += [("body", "JSON", body["schema"])] if body else []
    return _table(
        ("takes", "in", "what"), [(escape(name), where, _kind(kind)) for name, where, kind in rows]
    )


def _answers(operation: Mapping[str, Any]) -> str:
    rows = []
    for status, reply in sorted(operation["responses"].items()):
        content = reply.get("content", {}).get("application/json", {})
        rows.append((status, escape(reply["description"]), _kind(content.get("schema", {}))))
    return _table(("status", "meaning", "what"), rows)


def _fields(shape: Mapping[str, Any]) -> str:
    fields = shape.get("properties", {}).items()
    return _table(
        ("field", "what", "meaning"),
        [(escape(name), _kind(of), escape(of.get("description", ""))) for name, of in fields],
    )


def _kind(schema: Mapping[str, Any]) -> str:
    """A schema in a few words; a shape is a link to its table."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(escape, map(str, schema["enum"])))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    bounds = {"minimum": "≥", "maximum": "≤", "pattern": "like"}
    said = [f"{sign} {schema[name]}" for name, sign in bounds.items() if name in schema]
    return escape(" ".join([str(schema.get("type", "")), *said]))


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
