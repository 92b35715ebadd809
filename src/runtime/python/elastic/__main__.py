# SPDX-License-Identifier: MIT
"""`python3 -m elastic [--json]`: what is seen of the job in whose environment it runs.

The controller is asked by selastic, as anybody may ask it: of a job it listens to the process that has opened it last,
so a Job of ours would end the part of the program that takes part.

With --json an object, of which what is not known is not there: `version` (libelastic's), `job`, `elastic` (it may be
resized), `reachable` (the controller answers), `error` (why nothing more is known), `class`, `state`, `nodes`,
`node_list`, `min`, `max`, `connected` (a program takes part), `resizes` (how many there were) and `asked`, the last
offer or request: `time` (seconds since 1970), `who` (controller or job), `kind` (shrink or expand), `count` (of nodes),
`reason` and `answer` (the event that came of it: accept, decline, resize, ...; "": none yet).

Exit status: 0, also outside a job; 1: the controller does not answer, or not for this job; 2: the command line is
wrong.
"""

from __future__ import annotations


import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

from . import version

_PATIENCE = 30  # seconds: selastic gives up before
_ASKED = ("offer", "request")
_REFUSED = 1  # selastic's status for what the controller knows nothing of


def _show(number: str) -> tuple[dict[str, Any], str, bool]:
    """What the controller has of the job; if nothing, why; whether it has answered."""
    try:
        done = subprocess.run(["selastic", "show", number, "--json"], capture_output=True, text=True,
                              timeout=_PATIENCE, check=False)
    except FileNotFoundError:
        return {}, "there is no selastic in PATH", False
    except subprocess.TimeoutExpired:
        return {}, f"selastic has not answered within {_PATIENCE} s", False
    if done.returncode:
        why = done.stderr.strip().removeprefix("selastic: error: ") or f"selastic: status {done.returncode}"
        return {}, why, done.returncode == _REFUSED
    shown: dict[str, Any] = json.loads(done.stdout)["job"]
    return shown, "", True


def _last_asked(history: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The last offer or request of a job's history, and what came of it."""
    places = [place for place, event in enumerate(history) if event["event"] in _ASKED]
    if not places:
        return None
    asked, later = history[places[-1]], history[places[-1] + 1:]
    answers = [event["event"] for event in later if event.get("op") == asked.get("op")]
    by_job = asked["event"] == "request"
    return {"time": asked["time"], "who": "job" if by_job else "controller",
            "kind": "expand" if by_job else asked["kind"], "count": asked["want" if by_job else "count"],
            "reason": asked.get("reason", ""), "answer": answers[-1] if answers else ""}


def look(number: str) -> dict[str, Any]:
    """What is seen of the job with this number; "": there is none."""
    seen: dict[str, Any] = {"version": version(), "elastic": False}
    if not number:
        return seen
    seen["job"] = int(number)
    job, error, seen["reachable"] = _show(number)
    if error:
        return {**seen, "error": error}
    seen["elastic"] = job["class"] != "rigid"
    kept = ("class", "state", "nodes", "node_list", "min", "max", "connected", "resizes")
    seen |= {key: job[key] for key in kept if key in job}
    asked = _last_asked(job.get("history", []))
    return {**seen, "asked": asked} if asked else seen


def _asked_text(asked: dict[str, Any]) -> str:
    when = time.strftime("%H:%M:%S", time.localtime(asked["time"]))
    what = "give up" if asked["kind"] == "shrink" else "take" if asked["who"] == "controller" else "have"
    subject = "the controller asked it to" if asked["who"] == "controller" else "it asked to"
    reason = f" ({asked['reason']})" if asked["reason"] else ""
    return f"{when}, {subject} {what} {asked['count']} node(s){reason}: {asked['answer'] or 'no answer yet'}"


def text(seen: dict[str, Any]) -> str:
    """The same for people."""
    lines = [("libelastic", seen["version"]), ("job", seen.get("job", "none: SLURM_JOB_ID is not set"))]
    if "reachable" in seen:
        answers = "answers" if seen["reachable"] else "does not answer"
        lines.append(("controller", f"{answers}: {seen['error']}" if "error" in seen else answers))
    if "class" in seen:
        lines.append(("class", seen["class"] if seen["elastic"] else "rigid: it was not submitted with --elastic"))
        lines.append(("size", f"{seen.get('nodes', 0)} {seen.get('node_list', '')}"))
    if seen["elastic"]:
        lines.append(("min, max", f"{seen['min']}, {seen['max']}"))
        lines.append(("takes part", "yes" if seen["connected"] else "no: nothing of it has opened the job"))
        lines.append(("asked last", _asked_text(seen["asked"]) if "asked" in seen else "nothing yet"))
    return "\n".join(f"{name:<12} {value}" for name, value in lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m elastic", description="Says what is seen of this Slurm job.")
    parser.add_argument("--json", action="store_true", help="as one JSON object; help(elastic.__main__) names its keys")
    arguments = parser.parse_args()
    seen = look(os.environ.get("SLURM_JOB_ID", ""))
    print(json.dumps(seen) if arguments.json else text(seen))
    return 1 if "error" in seen else 0


if __name__ == "__main__":
    sys.exit(main())
