"""Puts the wheels of a list into a folder for PYTHONPATH, as pip would.

Usage: fetch.py FOLDER [--list LIST] [--downloads DIR] [--quiet]

A line of LIST (wheels.txt beside this file) is "name==version --hash=sha256:...". The hash says which file of the index it
is. The index is the one that pip is configured for (PIP_INDEX_URL, pip's configuration), else pip's own; proxies are those of
the environment. A transfer that was interrupted goes on where it stopped: files are kept in DIR (FOLDER.downloads) until
FOLDER is there, whole. If FOLDER has been made of the same wheels, nothing happens; if of others, it is made anew. Needs
nothing but Python, if an index is configured.

Exit status: 0 FOLDER is there, 77 the wheels cannot be fetched here, 1 another error, 2 wrong usage, 130 interrupted.
"""
import argparse
import base64
import configparser
import contextlib
import fcntl
import html.parser
import hashlib
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
CANNOT_FETCH = 77
LIST_NAME = "wheels.txt"  # in FOLDER: the list that it was made from


def fail(*lines, status=1):
    print(*(f"error: {line}" for line in lines), sep="\n", file=sys.stderr)
    sys.exit(status)


class Wheel:
    """A line of the list, and what the index says of it."""

    def __init__(self, name, version, sha256):
        self.name, self.version, self.sha256 = name, version, sha256
        self.file_name = self.address = ""
        self.size = 0  # 0: not known

    def __str__(self):
        return f"{self.name} {self.version}"


def listed(path):
    """The (name, version, sha256) of a list."""
    return re.findall(r"^([\w.-]+)==(\S+) --hash=sha256:([0-9a-f]{64})$", path.read_text(), re.M)


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
             "set index-url in pip's configuration, or PIP_INDEX_URL, or install pip (package python3-pip), which knows PyPI's", status=CANNOT_FETCH)
    return PyPI.simple_url


class Links(html.parser.HTMLParser):
    """The links of an index page of HTML: addresses with #sha256=..."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        if tag == "a" and dict(attributes).get("href"):
            self.found.append(dict(attributes)["href"])


def open_url(url, headers=(), method="GET"):
    """Opens an address; its user and password, if it has them, go into a header."""
    parts = urllib.parse.urlsplit(url)
    bare = urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    request = urllib.request.Request(bare, headers=dict(headers), method=method)
    if parts.username:
        secret = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        request.add_header("Authorization", "Basic " + base64.b64encode(secret.encode()).decode())
    return urllib.request.urlopen(request, timeout=60)


def without_password(url):
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def files_of(page):
    """(address, sha256, size) of the files of a package's page in the index; a size that is not known is 0."""
    kinds = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
    shown = without_password(page)
    try:
        with open_url(page, [("Accept", kinds)]) as answer:
            base, text = answer.geturl(), answer.read().decode()
            is_json = "json" in answer.headers.get("Content-Type", "")
    except (OSError, http.client.HTTPException, UnicodeDecodeError) as error:
        fail(f"{shown}: cannot be read: {getattr(error, 'reason', error)}",
             "with a Python that has PyTorch already, give it with --python", status=CANNOT_FETCH)
    if is_json:
        try:
            return [(urllib.parse.urljoin(base, file["url"]), file["hashes"].get("sha256", ""), file.get("size") or 0)
                    for file in json.loads(text)["files"]]
        except (ValueError, KeyError, TypeError, AttributeError):
            fail(f"{shown}: is no page of an index of packages", status=CANNOT_FETCH)
    parser = Links()
    parser.feed(text)
    links = [urllib.parse.urljoin(base, link).partition("#sha256=") for link in parser.found]
    return [(address, sha256, 0) for address, _, sha256 in links]


def find(index, wheel):
    """Fills in the file name, the address and the size of a wheel."""
    page = f"{index.rstrip('/')}/{re.sub(r'[-_.]+', '-', wheel.name).lower()}/"
    for address, sha256, size in files_of(page):
        if sha256 == wheel.sha256:
            wheel.address, wheel.size = address, size
            wheel.file_name = urllib.parse.unquote(urllib.parse.urlsplit(address).path.rpartition("/")[2])
            break
    else:
        fail(f"{without_password(page)}: it has no file of {wheel} with the hash of the list", status=CANNOT_FETCH)
    check_python(wheel.file_name)
    if not wheel.size:
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            with open_url(wheel.address, method="HEAD") as answer:
                wheel.size = int(answer.headers.get("Content-Length") or 0)


def check_python(file_name):
    """A wheel for one Python, of another version than this one, cannot be used."""
    tag = re.search(r"-(cp3\d+)-", file_name)
    own = f"cp{sys.version_info.major}{sys.version_info.minor}"
    if tag and "abi3" not in file_name and tag[1] != own:
        need = f"{tag[1][2]}.{tag[1][3:]}"
        fail(f"the list has PyTorch for Python {need}; this is Python {sys.version.split()[0]} ({sys.executable})",
             f"install python{need}, or give a Python that has PyTorch with --python", status=CANNOT_FETCH)


def hash_of(path):
    made = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(CHUNK):
            made.update(data)
    return made.hexdigest()


def size_text(count):
    return f"{count / 1e6:.0f} MB" if count >= 1e7 else f"{count / 1e6:.1f} MB"


class Progress:
    """What is done and how much of it, on stderr: one line that changes on a terminal, elsewhere one now and then."""
    quiet = False  # of all

    def __init__(self, what):
        self.what, self.live, self.begin = what, sys.stderr.isatty(), time.monotonic()
        self.last = 0.0 if self.live else self.begin

    def show(self, done, total):
        now = time.monotonic()
        if self.quiet or now - self.last < (0.2 if self.live else 10):
            return
        self.last = now
        self.say(f"{size_text(done)}" + (f" of {size_text(total)}" if total else ""), end="" if self.live else "\n")

    def end(self, text):
        if not self.quiet:
            self.say(f"{text}, {time.monotonic() - self.begin:.0f} s")

    def say(self, text, end="\n"):
        print(("\r\033[K" if self.live else "") + f"{self.what}: {text}", end=end, file=sys.stderr, flush=True)


def say(text):
    if not Progress.quiet:
        print(text, file=sys.stderr, flush=True)


def transfer(wheel, part, progress):
    """Fetches what `part` lacks. Raises OSError or HTTPException if the connection breaks."""
    have = part.stat().st_size if part.exists() else 0
    headers = [("Range", f"bytes={have}-")] if have else []
    try:
        answer = open_url(wheel.address, headers)
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


def fetch_one(wheel, downloads):
    part = downloads / (wheel.file_name + ".part")
    progress = Progress(f"fetches {wheel}")
    for attempt in range(TRIES):
        try:
            transfer(wheel, part, progress)
            break
        except (OSError, http.client.HTTPException) as error:
            if attempt == TRIES - 1:
                fail(f"{without_password(wheel.address)}: {getattr(error, 'reason', error)}",
                     f"run it again: {part} is kept, and it goes on there", status=CANNOT_FETCH)
            time.sleep(2 ** attempt)
    if hash_of(part) != wheel.sha256:
        part.unlink()
        fail(f"{without_password(wheel.address)}: what has arrived has another hash than the list says", status=CANNOT_FETCH)
    part.rename(downloads / wheel.file_name)
    progress.end(size_text((downloads / wheel.file_name).stat().st_size))


def check_space(folder, missing, total):
    """Wheels are archives: unpacked, they are about twice as large."""
    needed, free = missing + 2 * total, shutil.disk_usage(folder).free
    if free < needed:
        fail(f"{folder}: has {free / 1e9:.1f} GB free; the packages need {needed / 1e9:.1f} GB")


def fetch(wheels, downloads):
    """Returns the path of each wheel, by its hash."""
    there = {hash_of(path): path for path in downloads.glob("*.whl")}
    missing = [wheel for wheel in wheels if wheel.sha256 not in there]
    if missing:
        index = index_url()
        say(f"looks up {len(missing)} of {len(wheels)} packages in {without_password(index)}")
        for wheel in missing:
            find(index, wheel)
        total = sum(wheel.size for wheel in missing)
        parts = [downloads / (wheel.file_name + ".part") for wheel in missing]
        kept = sum(part.stat().st_size for part in parts if part.exists())
        say(f"fetches {size_text(total) if total else 'packages'} into {downloads}" +
            (f"; {size_text(kept)} of it are there already" if kept else ""))
        check_space(downloads, total - kept, total)
    for wheel in missing:
        fetch_one(wheel, downloads)
        there[wheel.sha256] = downloads / wheel.file_name
    return there


def unpack(paths, folder):
    """What pip would do with wheels that have no scripts of their own to install."""
    progress, done = Progress("unpacks the packages"), 0
    for path in paths:
        with zipfile.ZipFile(path) as files:
            for entry in files.infolist():
                unpacked = files.extract(entry, folder)
                # extract() drops the mode; PyTorch starts programs of its own (torch_shm_manager).
                if not entry.is_dir() and entry.external_attr >> 16 & 0o111:
                    os.chmod(unpacked, 0o755)
                done += entry.file_size
                progress.show(done, 0)
        for data in folder.glob("*.data"):
            for kind in ("purelib", "platlib"):
                if (data / kind).is_dir():
                    shutil.copytree(data / kind, folder, dirs_exist_ok=True)
            shutil.rmtree(data)
    progress.end(size_text(done))


@contextlib.contextmanager
def alone(downloads):
    """Waits until no other process works with the same downloads."""
    with open(downloads / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another process fetches into {downloads}; waits for its end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make(source, folder, downloads):
    lines = listed(source) or fail(f"{source}: it lists no wheel")
    made = folder / LIST_NAME
    if made.is_file() and listed(made) == lines:
        return
    if folder.exists() and not made.is_file() and any(folder.iterdir()):
        fail(f"{folder}: is there already, and this script has not made it; give another folder, or remove it")
    downloads.mkdir(parents=True, exist_ok=True)
    with alone(downloads):
        if made.is_file() and listed(made) == lines:
            return
        wheels = [Wheel(*line) for line in lines]
        paths = fetch(wheels, downloads)
        work = folder.with_name(folder.name + ".part")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        unpack([paths[wheel.sha256] for wheel in wheels], work)
        shutil.copyfile(source, work / LIST_NAME)
        if folder.exists():
            shutil.rmtree(folder)
        work.rename(folder)
        shutil.rmtree(downloads)  # with the lock: whoever waits for it finds FOLDER


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--list", type=pathlib.Path, default=pathlib.Path(__file__).with_name("wheels.txt"))
    parser.add_argument("--downloads", type=pathlib.Path, help="folder of what is not yet complete (default: FOLDER.downloads)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    options = parser.parse_args()
    Progress.quiet = options.quiet
    make(options.list, options.folder, options.downloads or options.folder.with_name(options.folder.name + ".downloads"))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
