# SPDX-License-Identifier: MIT
"""names_test: what the documents name exists in the tree.

In every document a path that begins with a folder of the tree (src/, test/, doc/, contribs/) is there, and so is what a
link leads to. In the documents about the tree itself, moreover, of what stands in backticks:

- a word with a slash or with a source's ending is the end of a path; a layer of one file stands without the ending;
- `build/NAME` is a program that some Makefile.inc makes;
- a word as only code has it (with an underscore, or a capital behind a small letter) occurs in the sources.

The parts of contribs/check, in commands of any document, are those that it has, and its --help has all of them.

Not looked for: absolute paths, placeholders (`DIR/...`), Slurm's plugins (`sched/elastic`) and Slurm's tests.
"""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
OWN_FOLDERS = ("src", "test", "doc", "contribs", "debian")
ABOUT_THE_TREE = ("README.md", "CONTRIBUTING.md", "doc/architecture.md", "doc/protocol.md", "test/*/README.md")
ELSEWHERE = r"/|~|\$|\W?[A-Z]+\W?/|(auth|burst_buffer|sched|select|job_submit)/\w+$|testsuite/"


def own_files():
    files = [path for folder in OWN_FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [path for path in ROOT.iterdir() if path.is_file()]
    return [path for path in files if "__pycache__" not in path.parts]


FILES = own_files()
PATHS = {str(path.relative_to(ROOT)) for file in FILES for path in (file, file.with_suffix(""), *file.parents)
         if ROOT in path.parents}
TEXTS = [file.read_text(errors="replace") for file in FILES if file.suffix != ".md" and "corpus" not in file.parts]
WORDS = {word for text in TEXTS + sorted(PATHS) for word in re.findall(r"\w+", text)}
PROGRAMS = {program for file in FILES if file.name == "Makefile.inc"
            for line in re.findall(r"PROGRAMS \+=((?:.*\\\n)*.*)", file.read_text()) for program in line.split()}


def ends_a_path(name):
    name = re.sub(r"^(\.\.?/)+|/$", "", name)
    return any(fnmatch.fnmatchcase("/" + path, "*/" + name) for path in PATHS)


def exists(name):
    if re.match(ELSEWHERE, name):
        return True
    program = re.match(r"build[^/]*/(.*)", name)
    return program[1] in PROGRAMS | {""} if program else ends_a_path(name)


def wrong_in_code(span):
    for word in re.split(r"[\s,()=]+", span):
        if re.search(r"\w/|\.(cpp|hpp|c|h|py|sh|md|map|in)$", word):
            if not exists(word):
                yield f"no {word}"
        else:
            names = re.findall(r"\w*(?:[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z])\w*", word)
            yield from (f"no {name} in the sources" for name in names if name not in WORDS)


def wrong_in_line(line, document):
    for path in re.findall(rf"(?<![\w/.$~-])(?:{'|'.join(OWN_FOLDERS)})/[\w./*-]*[\w/*]", line):
        if not any(fnmatch.fnmatchcase(known, path.rstrip("/")) for known in PATHS):
            yield f"no {path}"
    for target in re.findall(r"\[[^]]*\]\(([^):#\s]+)\)", line):
        if not (document.parent / target).exists():
            yield f"no {target}"
    for part in re.findall(r"contribs/check ([a-z][a-z0-9-]*)", line):
        if part not in PARTS:
            yield f"contribs/check has no part {part}"


def wrong_in(document):
    is_about_the_tree = any(fnmatch.fnmatchcase(str(document.relative_to(ROOT)), name) for name in ABOUT_THE_TREE)
    in_block = False
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if re.match(r"\s*```", line):
            in_block = not in_block
        wrong = list(wrong_in_line(line, document))
        if is_about_the_tree and not in_block:
            wrong += [found for span in re.findall(r"`([^`]+)`", line) for found in wrong_in_code(span)]
        yield from (f"{document.relative_to(ROOT)}:{number}: {what}" for what in dict.fromkeys(wrong))


def wrong_in_help():
    described = set(re.findall(r"^  ([a-z][a-z0-9-]*)(?: |$)", CHECK, re.MULTILINE))
    yield from (f"contribs/check --help does not describe the part {part}" for part in sorted(PARTS - described))


CHECK = (ROOT / "contribs/check").read_text()
PARTS = {part for row in re.findall(r"^(?:all|more)_parts=\((.*)\)", CHECK, re.MULTILINE) for part in row.split()}


def main():
    documents = [path for path in FILES if path.suffix == ".md"]
    if len(documents) < 10 or len(PARTS) < 10 or not PROGRAMS:
        sys.exit("FAIL: cannot read the documents, contribs/check or the Makefile.incs")
    wrong = [line for document in sorted(documents) for line in wrong_in(document)] + list(wrong_in_help())
    print(*(f"FAIL: {line}" for line in wrong), sep="\n")
    return bool(wrong)


sys.exit(main())
