"""The rooms of the source as text, made from the table in scripts/check_layering."""
import importlib.machinery
import importlib.util
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"<!--rooms-->\n.*?<!--/rooms-->", re.S)


def table():
    """Returns house -> room -> rooms of the house that it may include."""
    path = str(ROOT / "scripts/check_layering")
    loader = importlib.machinery.SourceFileLoader("check_layering", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layering", loader))
    loader.exec_module(module)
    return module.ROOMS


def drawing(rooms):
    """Returns a block of code: a line for each room, with the rooms that it may include."""
    lines = []
    for house, inside in rooms.items():
        width = max(len(room) for room in inside) + 2
        lines.append(house)
        for room, uses in inside.items():
            name = room or "(top)"
            first = f"  {name:<{width}}" + ("─► " if uses else "")
            line = first
            for number, use in enumerate(uses):
                word = use + (", " if number + 1 < len(uses) else "")
                if len(line + word.rstrip()) > 100:
                    lines.append(line.rstrip())
                    line = " " * len(first)
                line += word
            lines.append(line.rstrip())
    return "<!--rooms-->\n```\n" + "\n".join(lines) + "\n```\n<!--/rooms-->"


def quoted(text, rooms):
    """Returns `text` with its drawing replaced by the one of `rooms`."""
    return BLOCK.sub(lambda match: drawing(rooms), text)
