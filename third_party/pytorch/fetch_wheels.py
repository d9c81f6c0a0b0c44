"""Fetches the wheels of a list, and unpacks them.

Usage: fetch_wheels.py fetch LIST FOLDER [--quiet]
       fetch_wheels.py unpack LIST FOLDER PACKAGES

A line of LIST is "name==version --hash=sha256:...". The hash says which file of the index it is. The index is the one that
pip is configured for (PIP_INDEX_URL, pip's configuration), else pip's own; proxies are those of the environment. A transfer
that was interrupted goes on where it stopped. Needs nothing but Python, if an index is configured.
"""
import configparser
import hashlib
import html.parser
import http.client
import json
import os
import pathlib
import re
import shutil
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile

CHUNK = 1 << 20
TRIES = 5


def fail(*lines):
    print(*(f"error: {line}" for line in lines), sep="\n", file=sys.stderr)
    sys.exit(1)


def wanted(path):
    """The (name, version, sha256) of the list."""
    found = re.findall(r"^([\w.-]+)==(\S+) --hash=sha256:([0-9a-f]{64})$", path.read_text(), re.M)
    return found or fail(f"{path}: it lists no wheel")


def index_url():
    """The index of pip's configuration, which also names mirrors."""
    if url := os.environ.get("PIP_INDEX_URL"):
        return url
    home = pathlib.Path.home()
    files = [os.environ.get("PIP_CONFIG_FILE"), home / ".config/pip/pip.conf", home / ".pip/pip.conf", "/etc/pip.conf"]
    for file in filter(None, files):
        settings = configparser.ConfigParser(interpolation=None)
        try:
            settings.read(file)
        except configparser.Error:
            continue
        for section in ("install", "global"):
            if url := settings.get(section, "index-url", fallback=None):
                return url
    try:
        from pip._internal.models.index import PyPI
    except ImportError:
        fail("no package index is configured on this machine",
             "set index-url in pip's configuration, or PIP_INDEX_URL, or install pip (package python3-pip), which knows PyPI's")
    return PyPI.simple_url


class Links(html.parser.HTMLParser):
    """The links of an index page of HTML: (file name, address with #sha256=...)."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        if tag == "a" and dict(attributes).get("href"):
            self.found.append(dict(attributes)["href"])


def open_url(url, headers=()):
    """Opens an address; its user and password, if it has them, go into a header."""
    parts = urllib.parse.urlsplit(url)
    request = urllib.request.Request(url, headers=dict(headers))
    if parts.username:
        import base64
        secret = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        request = urllib.request.Request(urllib.parse.urlunsplit(bare), headers=dict(headers))
        request.add_header("Authorization", "Basic " + base64.b64encode(secret.encode()).decode())
    return urllib.request.urlopen(request, timeout=60)


def find(index, name, version, sha256):
    """The file name and address of a wheel."""
    page = f"{index.rstrip('/')}/{re.sub(r'[-_.]+', '-', name).lower()}/"
    kinds = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
    try:
        with open_url(page, [("Accept", kinds)]) as answer:
            base, text = answer.geturl(), answer.read().decode()
            is_json = "json" in answer.headers.get("Content-Type", "")
    except (OSError, http.client.HTTPException, UnicodeDecodeError) as error:
        fail(f"{page}: cannot be read: {getattr(error, 'reason', error)}",
             "with a Python that has PyTorch already, give it with --python")
    if is_json:
        try:
            links = [file["url"] + "#sha256=" + file["hashes"].get("sha256", "") for file in json.loads(text)["files"]]
        except (ValueError, KeyError, TypeError, AttributeError):
            fail(f"{page}: is no page of an index of packages")
    else:
        parser = Links()
        parser.feed(text)
        links = parser.found
    for link in links:
        address, _, hashed = urllib.parse.urljoin(base, link).partition("#sha256=")
        if hashed == sha256:
            return urllib.parse.unquote(urllib.parse.urlsplit(address).path.rpartition("/")[2]), address
    return fail(f"{page}: it has no file of {name} {version} with the hash of the list")


def hash_of(path):
    made = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(CHUNK):
            made.update(data)
    return made.hexdigest()


def megabytes(count):
    return f"{count / 1e6:.0f} MB" if count >= 1e7 else f"{count / 1e6:.1f} MB"


class Progress:
    """One line on stderr: what is fetched, how much of it."""

    def __init__(self, what, quiet):
        self.what, self.quiet, self.last = what, quiet, 0.0
        self.live = not quiet and sys.stderr.isatty()

    def show(self, done, total, end=False):
        if self.quiet or not (end or self.live) or (not end and time.monotonic() - self.last < 0.2):
            return
        self.last = time.monotonic()
        text = f"{self.what}: {megabytes(done)}" + ("" if end or not total else f" of {megabytes(total)}")
        print(("\r\033[K" if self.live else "") + text, end="\n" if end else "", file=sys.stderr, flush=True)


def transfer(address, part, progress):
    """Fetches what `part` lacks. Raises OSError or HTTPException if the connection breaks."""
    have = part.stat().st_size if part.exists() else 0
    headers = [("Range", f"bytes={have}-")] if have else []
    try:
        answer = open_url(address, headers)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is missing
            return
        raise
    with answer, open(part, "ab" if answer.status == 206 else "wb") as file:
        done = have if answer.status == 206 else 0
        length = answer.headers.get("Content-Length")
        total = done + int(length) if length else 0
        while data := answer.read(CHUNK):
            file.write(data)
            done += len(data)
            progress.show(done, total)
        if total and done < total:
            raise OSError("the connection broke")


def fetch_one(index, name, version, sha256, folder, quiet):
    for file in folder.glob(f"{re.sub(r'[-_.]+', '_', name)}-*.whl"):
        if hash_of(file) == sha256:
            return
    file_name, address = find(index, name, version, sha256)
    check_python(file_name)
    part = folder / (file_name + ".part")
    progress = Progress(f"{name} {version}", quiet)
    for attempt in range(TRIES):
        try:
            transfer(address, part, progress)
            break
        except (OSError, http.client.HTTPException) as error:
            if attempt == TRIES - 1:
                fail(f"{address}: {getattr(error, 'reason', error)}", f"run it again: {part} is kept, and it goes on there")
            time.sleep(2 ** attempt)
    if hash_of(part) != sha256:
        part.unlink()
        fail(f"{address}: what has arrived has another hash than the list says")
    progress.show(part.stat().st_size, 0, end=True)
    part.rename(folder / file_name)


def check_python(file_name):
    """A wheel for one Python, of another version than this one, cannot be used."""
    tag = re.search(r"-(cp3\d+)-", file_name)
    own = f"cp{sys.version_info.major}{sys.version_info.minor}"
    if tag and "abi3" not in file_name and tag[1] != own:
        need = f"{tag[1][2]}.{tag[1][3:]}"
        fail(f"the list has PyTorch for Python {need}; this is Python {sys.version.split()[0]} ({sys.executable})",
             f"install python{need}, or give a Python that has PyTorch with --python")


def unpack(items, folder, packages):
    """What pip would do with wheels that have no scripts of their own to install."""
    # The folder may have files of an older list, whose transfer was interrupted.
    wheels = {hash_of(wheel): wheel for wheel in folder.glob("*.whl")}
    for name, version, sha256 in items:
        if sha256 not in wheels:
            fail(f"{folder}: it has no file of {name} {version} with the hash of the list")
        with zipfile.ZipFile(wheels[sha256]) as files:
            for entry in files.infolist():
                path = files.extract(entry, packages)
                # extract() drops the mode; PyTorch starts programs of its own (torch_shm_manager).
                if not entry.is_dir() and entry.external_attr >> 16 & 0o111:
                    os.chmod(path, 0o755)
        for data in packages.glob("*.data"):
            for kind in ("purelib", "platlib"):
                if (data / kind).is_dir():
                    shutil.copytree(data / kind, packages, dirs_exist_ok=True)
            shutil.rmtree(data)


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("fetch", "unpack"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    command, items, folder = sys.argv[1], wanted(pathlib.Path(sys.argv[2])), pathlib.Path(sys.argv[3])
    if command == "unpack":
        return unpack(items, folder, pathlib.Path(sys.argv[4]))
    folder.mkdir(parents=True, exist_ok=True)
    index, quiet = index_url(), "--quiet" in sys.argv
    for name, version, sha256 in items:
        fetch_one(index, name, version, sha256, folder, quiet)
    for file in folder.glob("*.part"):
        file.unlink()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
