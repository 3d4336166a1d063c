#!/usr/bin/env python3
"""fetch.py SEBAYS FETCH_ROW - fetching from a server on this machine that has faults.

FETCH_ROW fetches small sets that no catalogue knows; SEBAYS is the program itself, whose
catalogue is real: against this server it can fail, be stopped and be told off.
"""
import gzip
import hashlib
import http.server
import io
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

SEBAYS, ROW = (os.path.abspath(p) for p in sys.argv[1:3])
BODY = bytes((i * 7 + i // 251) % 256 for i in range(300000))
failed = []


class Server(http.server.ThreadingHTTPServer):
    """files: path -> bytes; fault(handler, body) answers instead if it returns True."""
    daemon_threads = True
    block_on_close = False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.fault, self.seen = {}, None, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A client that hangs up is what this is about."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/d"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, body, send=None, **headers):
        """send: only so many bytes of what is promised, then the line goes dead."""
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body if send is None else body[:send])
        if send is not None:
            self.wfile.flush()
            self.close_connection = True

    def range_from(self):
        value = self.headers.get("Range", "")
        return int(value[len("bytes="):-1]) if value else 0

    def rest(self, body, send=None):
        start = self.range_from()
        if start == 0 and "Range" not in self.headers:
            self.answer(200, body, send)
        elif start >= len(body):
            self.answer(416, b"", Content_Range=f"bytes */{len(body)}")
        else:
            self.answer(206, body[start:], send,
                        Content_Range=f"bytes {start}-{len(body) - 1}/{len(body)}")

    def do_GET(self):
        self.server.seen.append(self.headers.get("Range"))
        body = self.server.files.get(self.path)
        if self.server.fault and self.server.fault(self, body):
            return
        if body is None:
            self.answer(404, b"no such file")
        else:
            self.rest(body)


def check(what, good, shown=""):
    if not good:
        failed.append(what)
        print(f"FAILED: {what}: {shown}")


class Case:
    """A directory and a server of its own."""

    def __init__(self, body=BODY, name="f", pack="plain", limit=10**6):
        self.dir = tempfile.TemporaryDirectory()
        self.top = pathlib.Path(self.dir.name)
        self.server = Server()
        self.server.files[f"/d/{name}"] = body
        self.name, self.body = name, body
        self.words = ["set", pack, str(limit), self.dir.name, self.server.url]
        self.sum = hashlib.sha256(body).hexdigest()

    def run(self, size=None, sha=None):
        size = len(self.body) if size is None else size
        done = subprocess.run([ROW, *self.words, self.name, str(size), sha or self.sum],
                              capture_output=True, text=True, check=False)
        self.code, self.said, self.warned = done.returncode, done.stdout.strip(), done.stderr
        return self

    @property
    def part(self):
        return self.top / "set.part" / f"{self.name}.part"

    def arrived(self, what):
        file = self.top / "set" / self.name
        good = self.code == 0 and file.is_file() and file.read_bytes() == self.body
        check(what, good and not (self.top / "set.part").exists(), self.said + self.warned)

    def refused(self, what, sentence):
        check(what, self.code == 1 and self.said == sentence, self.said)
        check(what + ": something appeared", not (self.top / "set").exists())


def plain():
    case = Case().run()
    case.arrived("a plain file")
    asked = len(case.server.seen)
    case.run()
    check("what is there is not fetched", case.code == 0 and len(case.server.seen) == asked)


def cut():
    case = Case()
    case.server.fault = lambda h, body: len(case.server.seen) == 1 and \
        (h.rest(body, 100000), True)[1]
    case.run().arrived("cut midway")
    check("cut: goes on with Range", case.server.seen == [None, "bytes=100000-"],
          case.server.seen)
    check("cut: is told", "trying again (2 of 5)" in case.warned, case.warned)


def cut_for_good():
    """Every connection ends after 1000 bytes; the next run goes on where this one ended."""
    case = Case()
    case.server.fault = lambda h, body: (h.rest(body, 1000), True)[1]
    case.run()
    check("given up", case.code == 1 and "; gave up after 5 tries with 5000 of 300000 bytes, "
          "which are kept: the same command goes on from there" in case.said, case.said)
    check("the part is kept", case.part.stat().st_size == 5000)
    case.server.fault = None
    case.run().arrived("the next run")
    check("the next run goes on", case.server.seen[-1] == "bytes=5000-")


def no_range():
    case = Case()
    case.part.parent.mkdir()
    case.part.write_bytes(b"x" * 7000)
    case.server.fault = lambda h, body: (h.answer(200, body), True)[1]
    case.run().arrived("a server without Range")


def wrong_range():
    """206 with another piece than was asked for: dropped, then asked for all."""
    case = Case()
    case.part.parent.mkdir()
    case.part.write_bytes(BODY[:7000])
    case.server.fault = lambda h, body: "Range" in h.headers and (h.answer(
        206, body[10:], Content_Range=f"bytes 10-{len(body) - 1}/{len(body)}"), True)[1]
    case.run().arrived("a wrong piece")
    check("a wrong piece: asked for all", case.server.seen == ["bytes=7000-", None])


def not_satisfiable():
    case = Case()
    case.part.parent.mkdir()
    case.part.write_bytes(BODY[:7000])
    case.server.fault = lambda h, body: "Range" in h.headers and (
        h.answer(416, b""), True)[1]
    case.run().arrived("416")
    check("416: asked for all", case.server.seen == ["bytes=7000-", None])


def too_large_part():
    case = Case()
    case.part.parent.mkdir()
    case.part.write_bytes(BODY + b"more")
    case.run().arrived("a part larger than the file")


def changed_size():
    case = Case()
    url = f"{case.server.url}/f"
    case.run(size=299999).refused(
        "another size", f"{url} has 300000 bytes there, want 299999: it is not the file it "
        "was; give another place with --url")
    check("another size: asked once", len(case.server.seen) == 1)
    case.part.parent.mkdir(exist_ok=True)
    case.part.write_bytes(BODY[:7000])
    case.run(size=300001).refused(
        "another size on going on", f"{url} has 300000 bytes there, want 300001: it is not "
        "the file it was; give another place with --url")
    check("another size: the part is kept", case.part.stat().st_size == 7000)


def unannounced():
    """No length is announced and the body is too long, or too short."""
    def endless(h, body):
        h.send_response(200)
        h.send_header("Connection", "close")
        h.end_headers()
        h.wfile.write(body)
        h.close_connection = True
        return True
    case = Case()
    case.server.fault = endless
    case.run().arrived("no length")
    case = Case()
    case.server.fault = endless
    case.run(size=1000)
    check("too long", case.code == 1 and "want 1000: it is not the file it was" in case.said,
          case.said)
    case = Case()
    case.server.fault = lambda h, body: endless(h, body[:1000])
    case.run()
    check("too short", case.code == 1 and "the connection ended early; gave up" in case.said,
          case.said)


def wrong_sum():
    case = Case()
    wrong = "0" * 64
    case.run(sha=wrong).refused(
        "wrong sum", f"{case.server.url}/f: its SHA-256 is {case.sum}, want {wrong}; what "
        "was fetched is removed, nothing of it is used: try again, or give another place "
        "with --url")
    check("wrong sum: removed", not case.part.exists())
    case.run().arrived("after a wrong sum")


def not_found():
    case = Case()
    case.server.files.clear()
    case.run().refused("404", f"cannot fetch {case.server.url}/f: the server answers 404 "
                       "(not found); give another place with --url")
    check("404: asked once", len(case.server.seen) == 1)


def busy():
    case = Case()
    case.server.fault = lambda h, body: len(case.server.seen) < 3 and \
        (h.answer(503, b"later"), True)[1]
    case.run().arrived("503 twice")
    case = Case()
    case.server.fault = lambda h, body: (h.answer(500, b"never"), True)[1]
    case.run()
    check("500", case.code == 1 and "/f: the server answers 500; gave up after 5 tries with 0 "
          "of 300000 bytes" in case.said and len(case.server.seen) == 5, case.said)


def redirects():
    def elsewhere(h, _):
        if h.path != "/d/f":
            return False
        h.answer(302, b"moved", Location="/e/f", Content_Range="bytes 5-6/7")
        return True
    case = Case()
    case.server.files["/e/f"] = BODY
    case.server.fault = elsewhere
    case.run().arrived("a redirect")
    case = Case()
    case.server.fault = lambda h, _: (h.answer(302, b"", Location="/d/f"), True)[1]
    case.run()
    check("a circle", case.code == 1 and "redirects" in case.said, case.said)
    case = Case()
    case.server.fault = lambda h, _: (h.answer(302, b"", Location="file:///etc/hosts"), True)[1]
    case.run()
    check("a redirect to a file", case.code == 1 and case.said.startswith("cannot fetch"),
          case.said)


def archive(*entries, pack=gzip.compress):
    """entries: (name, bytes) or a TarInfo."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                tar.addfile(entry)
                continue
            info = tarfile.TarInfo(entry[0])
            info.size = len(entry[1])
            tar.addfile(info, io.BytesIO(entry[1]))
    return pack(out.getvalue())


def tars():
    long = "deep/" * 40 + "x.bin"
    files = {"data_batch_1.bin": BODY, "batches.meta.txt": b"cat\n", long: b"far"}
    for pack in (gzip.compress, bytes):
        case = Case(archive(*((f"top/{k}", v) for k, v in files.items()), pack=pack), "a.tar",
                    "tar").run()
        check("an archive", case.code == 0, case.said)
        for name, body in files.items():
            file = case.top / "set" / name
            check(f"an archive: {name}", file.is_file() and file.read_bytes() == body)
        check("an archive: nothing else", [p.name for p in case.top.iterdir()] == ["set"])


def bad_tars():
    link = tarfile.TarInfo("top/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    good = archive(("top/a", BODY), pack=bytes)
    for what, body, sentence in (
            ("..", archive(("top/a", b"1"), ("top/../../up", b"2")),
             'the archive has a file "top/../../up", which would not stay in its directory; '
             "nothing of it is used"),
            ("absolute", archive(("/top/a", b"1")),
             'the archive has a file "/top/a", which would not stay in its directory; nothing '
             "of it is used"),
            ("link", archive(("top/a", b"1"), link),
             "top/link is neither a file nor a directory (type 50); nothing of the archive is "
             "used"),
            ("truncated", gzip.compress(good[:200000]),
             "the archive stops short; fetch it again"),
            ("too large", archive(("top/a", bytes(2 * 10**6))),
             "top/a has 2000000 bytes, which is more than all of the archive may have; it is "
             "not what it should be")):
        case = Case(body, "a.tar", "tar").run()
        where = case.top / "set.part"
        case.refused(f"archive, {what}", f"{where}/a.tar: {sentence}")
        check(f"archive, {what}: nothing left", not (where / "unpacked").exists())
        check(f"archive, {what}: nothing outside", not (case.top / "up").exists())


def sebays(*words, **env):
    done = subprocess.run([SEBAYS, "data", "fetch", *words], capture_output=True, text=True,
                          check=False, env={**os.environ, **env})
    return done.returncode, done.stdout, done.stderr


def program():
    case = Case(b"tiny", "cifar-10-binary.tar.gz")
    code, out, err = sebays("cifar10", "--data-dir", case.dir.name, "--url", case.server.url,
                            "--quiet")
    check("the program: another size", code == 1 and out == "" and err ==
          f"sebays data fetch: {case.server.url}/cifar-10-binary.tar.gz has 4 bytes there, "
          "want 170052171: it is not the file it was; give another place with --url\n", err)
    code, out, err = sebays("svhn", "--url", case.server.url, "--quiet",
                            XDG_DATA_HOME=case.dir.name)
    check("the program: 404", code == 1 and "train_32x32.mat: the server answers 404" in err,
          err)
    check("the program: XDG_DATA_HOME", (case.top / "sebays" / "svhn.part").is_dir())
    (case.top / "sebays" / "mnist").mkdir()
    code, out, err = sebays("mnist", XDG_DATA_HOME=case.dir.name)
    check("the program: there", code == 0 and
          out == f"mnist is already in {case.dir.name}/sebays/mnist\n", out + err)
    code, out, err = sebays("mnits")
    check("the program: unknown", code == 2 and err == "sebays data fetch: there is no data "
          "set 'mnits' to fetch; the nearest is 'mnist', and 'sebays data list' shows all\n",
          err)


def stopped():
    """Ctrl-C in the middle: exit code 130, the part is kept, and how to go on is said."""
    sent = threading.Event()

    def hang(h, _):
        h.send_response(200)
        h.send_header("Content-Length", "170052171")
        h.end_headers()
        h.wfile.write(BODY)
        h.wfile.flush()
        sent.set()
        time.sleep(30)
        return True
    case = Case(name="cifar-10-binary.tar.gz")
    case.server.fault = hang
    words = ["--data-dir", case.dir.name, "--url", case.server.url]
    with subprocess.Popen([SEBAYS, "data", "fetch", "cifar10", *words],
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        part = case.top / "cifar10.part" / f"{case.name}.part"
        sent.wait(20)
        for _ in range(200):
            if part.exists() and part.stat().st_size == len(BODY):
                break
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        err = run.communicate(timeout=20)[1]
    check("stopped: exit code", run.returncode == 130, run.returncode)
    check("stopped: the part is kept", part.exists() and part.stat().st_size == len(BODY))
    check("stopped: says how to go on", "what has arrived is kept. Go on with: sebays data "
          f"fetch cifar10 {' '.join(words)}\n" in err, err)


def main():
    os.environ["no_proxy"] = "*"
    probe = Case().run()
    if "this build has no libcurl" in probe.said:
        print("NOT TESTED: data fetch (needs libcurl and libcrypto)")
        return 77
    for case in (plain, cut, cut_for_good, no_range, wrong_range, not_satisfiable,
                 too_large_part, changed_size, unannounced, wrong_sum, not_found, busy,
                 redirects, tars, bad_tars, program, stopped):
        case()
    print(f"fetch: {len(failed)} of the checks failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
