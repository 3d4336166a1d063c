#!/usr/bin/env python3
"""predict.py CSV JSON NPY - whether three outputs of sebays predict have the same bits.

The first two were made with --probabilities --members --top 3 --reject-above 1.0, for a model of
three classes and three members.
"""
import csv
import json
import struct
import sys

CLASSES = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")


def bits(*texts):
    return b"".join(struct.pack("<f", float(text)) for text in texts)


def check(row, line, raw):
    index, name, rejected = int(row["index"]), row["class"], row["rejected"] == "1"
    assert line["index"] == index and line["rejected"] == rejected
    assert rejected == (line["total"] > 1.0)
    assert (line["class"] or "") == name and (name == "") == rejected
    numbers = ["probability", "total", "aleatoric", "epistemic"]
    assert bits(*(row[n] for n in numbers)) == bits(*(line[n] for n in numbers))
    p = [row["p_" + c] for c in CLASSES]
    assert bits(*p) == bits(*line["probabilities"]) == raw
    members = [[row[f"p{m}_{c}"] for c in CLASSES] for m in (1, 2, 3)]
    assert bits(*sum(members, [])) == bits(*sum(line["members"], []))
    order = sorted(range(3), key=lambda i: (-float(p[i]), i))
    assert [t["label"] for t in line["top"]] == order
    assert [t["class"] for t in line["top"]][1:] == [row["class_2"], row["class_3"]]
    assert [t["class"] for t in line["top"]] == [CLASSES[i] for i in order]
    assert bits(*(t["probability"] for t in line["top"])) == bits(
        row["probability"], row["probability_2"], row["probability_3"])
    assert line["label"] == (None if rejected else order[0])
    votes = [sum(1 for m in members if max(range(3), key=lambda i: (float(m[i]), -i)) == c)
             for c in range(3)]
    assert line["votes"] == votes and int(row["votes"]) == votes[order[0]]


def main():
    with open(sys.argv[1], newline="") as file:
        rows = list(csv.DictReader(file))
    with open(sys.argv[2]) as file:
        lines = [json.loads(line) for line in file]
    with open(sys.argv[3], "rb") as file:
        array = file.read()
    assert array[:8] == b"\x93NUMPY\x01\x00" and b"'shape': (150, 3)" in array[:128]
    assert len(array) == 128 + 150 * 3 * 4 and len(rows) == len(lines) == 150
    for i, (row, line) in enumerate(zip(rows, lines)):
        check(row, line, array[128 + 12 * i:128 + 12 * i + 12])


main()
