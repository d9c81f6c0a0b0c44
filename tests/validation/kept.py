"""Results that stay: each in a small file named for a hash of all that it was made from, so that one that fits is right,
and one that was made from something else is not found. A run that was interrupted goes on, and nothing is done twice."""
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
    """Of words, and of files: their places under `root` (or names, elsewhere) and what stands in them."""
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

    def keep(self, name, key, result):
        self.folder.mkdir(parents=True, exist_ok=True)
        begun = self.path(name, key).with_suffix(".begun")
        begun.write_text(json.dumps(result) + "\n")
        begun.replace(self.path(name, key))


def configuration_files(first, root):
    """The files that a tool may read for those of `first`: what they name beside themselves, the GPUs, those GPUs' references
    and profiles, and what every run reads."""
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
