#!/usr/bin/env python3
"""Writes a C program that calls every function of sebays.h with every argument wrong in turn,
and with every field of every options struct wrong: nonsense.py SEBAYS_H >nonsense.c

The others are good ones, from the tables below; a type that is new in the header needs a row
there, or this fails. Each call is made in a process of its own (nonsense.h). NULL for what is
needed must be SEBAYS_EARG with a sentence; anything else must come back with a status.
"""
import re
import sys

# A good value of each type; of strings by the argument's name.
GOOD = {
    "struct sebays_recipe *": "good.recipe",
    "struct sebays_result *": "good.result",
    "struct sebays_data *": "good.data",
    "struct sebays_model *": "good.model",
    "struct sebays_predictor *": "good.predictor",
    "struct sebays_feed *": "good.feed",
    "struct sebays_run_options *": "&good.run_options",
    "struct sebays_eval_options *": "&good.eval_options",
    "struct sebays_data_options *": "&good.data_options",
    "struct sebays_fetch_options *": "&good.fetch_options",
    "struct sebays_corrupt_options *": "&good.corrupt_options",
    "struct sebays_predictor_options *": "&good.predictor_options",
    "struct sebays_feed_options *": "&good.feed_options",
    "struct sebays_export_options *": "&good.export_options",
    "struct sebays_examples *": "&good.examples",
    "struct sebays_prediction *": "&good.prediction",
    "struct sebays_outcomes *": "&good.outcomes",
    "const char *const *": "good.runs",
    "char *": "good.buffer",
    "bool *": "&good.there",
    "size_t *": "&good.got",
    "void *": "good.buffer",
    "uint64_t *": "(uint64_t[]){1}",
    "double *": "&good.number",
    "struct sebays_ranks *": "NULL",
    "uint32_t *": "(uint32_t[]){1}",
    "double": "0.5",
    "size_t": "1",
    "uint32_t": "0",
    "bool": "false",
    "sebays_status": "SEBAYS_OK",
}
STRINGS = {
    "path": '"run"', "run": '"run"', "name": '"train.seed"', "value": '"2"',
    "assignment": '"train.seed=2"', "name_or_path": '"./train.csv"', "png": '"sheet.png"',
    "dir": '"arrays"', "data_dir": '"."', "format": '"csv"', "html": '"page.html"',
    "mpi": '"./none.so"', "samples": '"mean"',
}
BAD_STRINGS = ["NULL", '""', '"\\xff\\xfe"', '"/"', '"nowhere/at/all"', "long_text"]
BAD = {"size_t": ["0", "SIZE_MAX"], "uint32_t": ["UINT32_MAX"], "uint64_t": ["UINT64_MAX"],
       "bool": ["true"], "double": ["NAN", "-1.0", "INFINITY"], "ptrdiff_t": ["PTRDIFF_MIN"]}
MAY_BE_NULL = {"options", "data_dir", "html"}  # arguments
FREES = re.compile(r"sebays_\w*free$")


def strip(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^#.*?(?<!\\)$", " ", text, flags=re.M)
    return re.sub(r"\s+", " ", text)


def typed(text):
    """("const char *", "path") of "const char *path"."""
    match = re.fullmatch(r"(.*?)(\w+)", text.strip())
    return match[1].strip(), match[2]


def plain(type_):
    """Without the const of what a pointer leads to, but for strings."""
    if type_ in ("const char *", "const char *const *"):
        return type_
    return re.sub(r"^const ", "", type_)


def functions(text):
    for result, name, arguments in re.findall(
            r"([\w *]+?)(sebays_\w+)\(([^()]*)\);", text):
        if "typedef" in result or not result.strip():
            continue
        arguments = [] if arguments.strip() == "void" else arguments.split(",")
        yield result.strip(), name, [typed(a) for a in arguments]


def structs(text):
    """name: [(type, field)] of those that callers fill in."""
    for name, body in re.findall(r"struct (sebays_\w+) \{(.*?)\};", text):
        fields = []
        for line in filter(None, map(str.strip, body.split(";"))):
            first, *more = line.split(",")
            type_, field = typed(re.sub(r"\[\d+\]", "", first))
            fields.append((type_, field))
            fields += [(type_, re.sub(r"\W", "", m)) for m in more]
        yield name, fields


def good(type_, name):
    if type_ == "const char *":
        return STRINGS[name]
    if plain(type_) in GOOD:
        return GOOD[plain(type_)]
    if type_.endswith("**"):
        return "&good.handle"
    raise SystemExit(f"nonsense.py: what is a good {type_} {name}? It needs a row in a table")


def good_values(name, arguments):
    """Functions about continuous targets are asked of a model that has some."""
    values = [cast(t, good(t, n)) for t, n in arguments]
    if "outcomes" not in name and name != "sebays_model_conformal":
        return values
    return [re.sub(r"^good\.(model|predictor|feed)$", r"good.outcome_\1", v) for v in values]


def bad(type_):
    if type_ == "const char *":
        return BAD_STRINGS
    if type_.startswith("enum ") or type_ == "sebays_status":
        kind = type_
        return [f"({kind})99", f"({kind})-1"]
    if type_.endswith("*"):
        return ["NULL"]
    return BAD[type_]


def call(result, name, arguments):
    values = ", ".join(arguments)
    line = f"{name}({values})"
    if result == "sebays_status":
        return f"status = {line};"
    return f"(void){line};" if result != "void" else f"{line};"


def cast(type_, value):
    return f"(void *){value}" if type_.endswith("**") and value.startswith("&") else value


def argument_cases(result, name, arguments):
    values = good_values(name, arguments)
    if not FREES.match(name):
        yield name, call(result, name, values), "ANY"
    for i, (type_, argument) in enumerate(arguments):
        for wrong in bad(type_):
            want = "ANY"
            if wrong == "NULL" and argument not in MAY_BE_NULL and result == "sebays_status":
                want = "REFUSED"
            yield (f"{name}: {argument} = {wrong}",
                   call(result, name, values[:i] + [wrong] + values[i + 1:]), want)


def field_cases(name, fields, users):
    """Every field wrong, for every function that takes the struct."""
    for type_, field in fields:
        if type_.endswith("_fn *") or type_ == "void *" or field == "stride":
            continue
        for wrong in bad(type_):
            for result, function, arguments in users:
                values = good_values(function, arguments)
                for i, (t, _) in enumerate(arguments):
                    if plain(t) == f"struct {name} *":
                        values[i] = "&wrong"
                source = GOOD[f"struct {name} *"].lstrip("&")
                yield (f"{function}: {name}.{field} = {wrong}",
                       f"struct {name} wrong = {source}; wrong.{field} = {wrong}; " +
                       call(result, function, values), "ANY")


def main():
    text = strip(open(sys.argv[1], encoding="utf-8").read())
    all_functions = list(functions(text))
    cases = [c for f in all_functions for c in argument_cases(*f)]
    for name, fields in structs(text):
        users = [f for f in all_functions if any(plain(t) == f"struct {name} *" for t, _ in f[2])]
        if f"struct {name} *" in GOOD:
            cases += field_cases(name, fields, users)
    print('/* Written by tests/api/nonsense.py. */\n#include "nonsense.h"\n')
    for i, (_, code, _) in enumerate(cases):
        print(f"static sebays_status case_{i}(void)\n{{\n    sebays_status status = SEBAYS_OK;\n"
              f"    {code}\n    return status;\n}}\n")
    print("static const struct nonsense cases[] = {")
    for i, (title, _, want) in enumerate(cases):
        quoted = title.replace("\\", "\\\\").replace('"', '\\"')
        print(f'    {{"{quoted}", case_{i}, {want}}},')
    print("};\n")
    print(f"int main(void)\n{{\n    return nonsense_run(cases, {len(cases)}, "
          f"{len(all_functions)});\n}}")


main()
