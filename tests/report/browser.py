#!/usr/bin/env python3
"""browser - a report as a reader sees it: Chromium without a window, over its debugging pipe.

    browser.py CHROMIUM REPORT.html [SCREENSHOTS]

Checks, at the width of a desk and of a phone, light, dark and for print: no error on the
console, nothing fetched, no canvas blank and no chart without a value, no two lines of a chart that look alike, the page not
wider than the screen, every chart with its table, every link inside the page with its target.
Prints what is wrong, one line each, and exits 1. With a directory as third argument it leaves screenshots there.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PAGE = """(() => {
  const blank = (c) => {
    const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    return c.width === 0 || d.every((x, i) => x === d[i % 4]);
  };
  const all = [...document.querySelectorAll('canvas')];
  const wide = [...document.body.querySelectorAll('*')].filter((e) =>
    !e.closest('.scroll, pre, .skip') && e.getBoundingClientRect().right > innerWidth + 1);
  return JSON.stringify({
    width: document.documentElement.scrollWidth, inner: innerWidth,
    wide: wide.slice(0, 3).map((e) => e.tagName + '.' + e.className),
    canvases: all.length, blank: all.filter(blank).length,
    unnamed: all.filter((c) => !c.getAttribute('aria-label')).length,
    charts: document.querySelectorAll('figure canvas').length,
    tables: document.querySelectorAll('figure table').length,
    empty: [...document.querySelectorAll('figure')].filter((f) =>
      f.querySelector('table') && !f.querySelector('tbody tr')).map((f) => f.innerText.slice(0, 40)),
    failed: [...document.querySelectorAll('.missing')].filter((p) =>
      p.textContent.startsWith('This section cannot')).map((p) => p.textContent),
    lost: [...document.querySelectorAll('a[href^="#"]')].filter((a) =>
      !document.getElementById(a.hash.slice(1))).map((a) => a.hash),
    alike: all.map((c) => window.Chart && Chart.getChart(c)).filter((chart) => {
      const looks = (chart ? chart.data.datasets : []).filter((d) => d.type !== 'bar' && d.pointRadius)
        .map((d) => [d.borderColor, d.pointStyle, d.borderDash].join(' '));
      return new Set(looks).size < looks.length;
    }).length || '',
    words: /undefined|NaN|null|\\[object/.exec(document.body.innerText)?.[0],
    sections: document.querySelectorAll('main section').length,
  });
})()"""


class Browser:
    """JSON messages over file descriptors 3 and 4, each ended by a zero byte."""

    def __init__(self, program, profile):
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        def wire():
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)
        # Descriptors 3 and 4 may be our own ends: move them out of the way first.
        to_read, to_write = (os.dup2(fd, fd + 40) for fd in (to_read, to_write))
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--disable-background-networking", f"--user-data-dir={profile}"],
            close_fds=False, preexec_fn=wire, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.back, 1 << 16)
            if not piece:
                raise SystemExit("browser: Chromium ended early")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"browser: {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, event):
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.receive())


def faults_of(page, events, name):
    """Sentences about one view of the page."""
    if page["width"] > page["inner"] or page["wide"]:
        yield f"{name}: {page['width']} pixels wide, want {page['inner']} ({page['wide']})"
    if page["blank"]:
        yield f"{name}: {page['blank']} of {page['canvases']} canvases are blank"
    if page["unnamed"]:
        yield f"{name}: {page['unnamed']} canvases have no name"
    if page["tables"] < page["charts"]:
        yield f"{name}: {page['charts']} charts have {page['tables']} tables"
    for key in ("empty", "failed", "lost", "alike", "words"):
        if page.get(key):
            yield f"{name}: {key}: {page[key]}"
    for event in events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            yield f"{name}: {params['exceptionDetails'].get('exception', params)}"
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            yield f"{name}: {params['entry']['text']}"
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            yield f"{name}: console: {params['args']}"
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:")):
                yield f"{name}: asks the network for {url}"


def view(browser, report, name, width, scheme, media, pictures):
    browser.events.clear()
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=width < 500)
    browser.call("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.call("Page.navigate", url=report.as_uri())
    browser.wait("Page.loadEventFired")
    found = browser.call("Runtime.evaluate", expression=PAGE, returnByValue=True)["result"]
    if "value" not in found:
        raise SystemExit(f"browser: the check itself failed: {found}")
    page = json.loads(found["value"])
    if pictures:
        shot = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        (pictures / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
    return page, list(faults_of(page, browser.events, name))


def main():
    program, report = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    pictures = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    views = [("desk-light", 1280, "light", ""), ("desk-dark", 1280, "dark", ""),
             ("phone-light", 390, "light", ""), ("phone-dark", 390, "dark", ""),
             ("print", 800, "light", "print")]
    faults, page = [], {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.call("Target.attachToTarget", targetId=target,
                                       flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.call(domain + ".enable")
        for name, width, scheme, media in views:
            page, found = view(browser, report, name, width, scheme, media, pictures)
            faults += found
        browser.process.kill()
        browser.process.wait()
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{report.name}: {page['sections']} sections, {page['charts']} charts, "
          f"{page['canvases']} canvases, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
