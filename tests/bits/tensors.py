#!/usr/bin/env python3
"""tensors.py FILE.model... - for each model file the SHA-256 of its networks' tensors and of the
far.* behind them. What a file says of its recipe grows with every option, and is left out."""
import hashlib
import json
import pathlib
import sys

for path in map(pathlib.Path, sys.argv[1:]):
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    head, tensors = json.loads(data[8:start]), data[start:]
    end = min(t["data_offsets"][0] for k, t in head.items() if k.startswith("far."))
    print(hashlib.sha256(tensors[:end]).hexdigest(), path.stem)
    print(hashlib.sha256(tensors[end:]).hexdigest(), path.stem + "-far")
