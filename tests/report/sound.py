#!/usr/bin/env python3
"""sound - whether pages are sound HTML that fetches nothing: sound.py PAGE...

Every element is closed in its turn, ids are unique, and no attribute names another place; the
data is one block of JSON.
"""
import html.parser
import json
import sys

VOID = {"meta", "br", "img", "link", "input", "hr"}
FETCHING = {"src", "srcset", "data", "action", "poster", "background"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.faults, self.data = [], set(), [], None
        self.in_data = False

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if attrs.get("id") in self.ids:
            self.faults.append(f"the id {attrs['id']} twice")
        if attrs.get("id"):
            self.ids.add(attrs["id"])
        for name, value in attrs.items():
            if name in FETCHING or name.startswith("on") or (
                    name == "href" and not value.startswith("#")):
                self.faults.append(f"<{tag} {name}={value}>")
        self.in_data = attrs.get("type") == "application/json"

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> where it does not belong")
        self.in_data = False

    def handle_data(self, data):
        if self.in_data:
            self.data = (self.data or "") + data


def faults_of(path):
    page = Page()
    text = open(path, encoding="utf-8").read()
    page.feed(text)
    page.close()
    if not text.startswith("<!DOCTYPE html>") or page.open:
        page.faults.append(f"not a whole document: {page.open}")
    if not json.loads(page.data)["runs"]:
        page.faults.append("no runs")
    if "url(" in text.split("</style>")[0] or "sourceMappingURL" in text:
        page.faults.append("names another file")
    return page.faults


def main():
    found = [f"{path}: {fault}" for path in sys.argv[1:] for fault in faults_of(path)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
