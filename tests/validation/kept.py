"""A cache of results. The name of each file is a hash of all inputs of the result, so a changed input gives a miss. An
interrupted run continues from the results that exist."""
import functools
import hashlib
import json
import os
import pathlib
import re


@functools.lru_cache(maxsize=None)
def file_hash(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "absent"


def key_of(words, files, root):
    """Returns the hash of words and files. A file counts with its path under `root` (elsewhere its name) and its content."""
    known = [[path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name, file_hash(path)]
             for path in sorted({pathlib.Path(os.path.abspath(path)) for path in files})]
    return hashlib.sha256(json.dumps([list(words), known]).encode()).hexdigest()[:24]


class Kept:
    """The results in a folder."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, name, key):
        return self.folder / f"{name}-{key}.json"

    def find(self, name, key):
        path = self.path(name, key)
        return json.loads(path.read_text()) if path.exists() else None

    def find_any(self, key):
        """Returns the result of these inputs under whatever name it has."""
        path = next(self.folder.glob(f"*-{key}.json"), None)
        return json.loads(path.read_text()) if path else None

    def keep(self, name, key, result):
        self.folder.mkdir(parents=True, exist_ok=True)
        begun = self.path(name, key).with_suffix(".begun")
        begun.write_text(json.dumps(result) + "\n")
        begun.replace(self.path(name, key))


def configuration_files(first, root):
    """Returns the files that a tool can read if it reads `first`: the files that these name, GPUs, the GPUs' references and
    profiles, and the files that every run reads."""
    configs = root / "configs"
    found, left = set(configs.glob("*.yaml")), list(first)
    while left:
        path = left.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        text = path.read_text()
        left += [path.parent / name for name in re.findall(r"[\w./-]+\.(?:json|yaml|yml|xml|csv|topo)\b", text)]
        for gpu in re.findall(r"\b(?:gpu|reference): *['\"]?([\w.-]+)", text):
            left += [configs / "gpus" / f"{gpu}.yaml", configs / "profiles" / f"{gpu}.csv"]
    return sorted(found)
