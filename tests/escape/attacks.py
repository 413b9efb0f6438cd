"""The attacks of this folder: what each file says of itself, and of its output.

One attack a file, aNN_short_name.py, where NN is its line in the catalogue of
attacks; it is a program of its own, and is read here, never imported. Its
docstring says what it does and what succeeds if nothing stops it; a second
paragraph, "Blocked by ...", says what does. Run as a program, this prints
docs/attacks.md.

It prints `ESCAPED: evidence`, or `refused: why`; with CHECK, `planted: what`,
and a function of checks.py looks at the host. It ends with 0.
"""
import ast
import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
MARKER = re.compile(r"^(ESCAPED|refused|planted): (.+)$", re.M)


@dataclasses.dataclass(frozen=True)
class Attack:
    """Literals of the file, by their names in lower case."""
    name: str
    says: str
    wants: object = None    # (kind, word) to be recorded, or {tier: that}
    bare: str = None        # who it succeeds as without karzer: root or user
    bare_cannot: str = None  # or why that cannot be shown
    needs: tuple = ()       # what given.py prepares; values come as name=value
    check: str = None       # of checks.py: looks at the host afterwards
    meanwhile: str = None   # of checks.py: goes on while the cell runs
    options: tuple = ()     # of karzer; {name} is the value of a need
    alone: bool = False     # a cell of its own: it would disturb others
    engine: bool = False    # attacks what is the same in every tier
    ends: tuple = ()        # statuses of a run that say that it was stopped
    tiers: tuple = ("process", "container")
    without_namespaces: bool = True  # is it held there, too?

    @property
    def line(self):
        return int(self.name[1:3])

    @property
    def path(self):
        return HERE / f"{self.name}.py"

    @property
    def batched(self):
        """Can it share a cell with others?"""
        own = (self.alone or self.options or self.ends or self.check
               or self.meanwhile)
        return not own and "pty" not in self.needs

    def wanted(self, tier):
        return self.wants.get(tier) if isinstance(self.wants, dict) else self.wants


def read(path):
    tree = ast.parse(path.read_text())
    known = {f.name.upper() for f in dataclasses.fields(Attack)}
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            name = getattr(node.targets[0], "id", "")
            if name in known:
                found[name.lower()] = ast.literal_eval(node.value)
    attack = Attack(path.stem, ast.get_docstring(tree) or "", **found)
    assert attack.says.count("\n\nBlocked ") == 1, f"{path}: what blocks it?"
    assert (attack.bare in ("root", "user")) != bool(attack.bare_cannot), (
        f"{path}: BARE is root or user, or BARE_CANNOT says why not")
    return attack


ATTACKS = [read(path) for path in sorted(HERE.glob("a[0-9][0-9]_*.py"))]


def marker(text):
    """(what, why) of the output; an escape is stronger than what follows."""
    found = MARKER.findall(text)
    escaped = [one for one in found if one[0] == "ESCAPED"]
    return (escaped or found or [("nothing", text[-600:])])[-1]


# What a program alone cannot show, and where it is shown.
ELSEWHERE = (
    (32, "text that makes a terminal do something",
     "tests/escape/test_text.py, tests/tier/test_terminal.py, test_stdio.py, "
     "test_repl.py"),
    (42, "swap", "`effective` names it (`swap`); tests/unit/test_limiter.c"),
    (43, "a client that is killed", "tests/tier/test_end.py, test_crash.py"),
    (49, "nobody reads, a closed stdin or stdout, a line of 100 MB",
     "tests/escape/test_supervisor.py, tests/tier/test_stdio.py, "
     "tests/robust/test_robust.py"),
    (50, "a record that grows", "tests/escape/test_supervisor.py, "
     "tests/tier/test_observer.py; the kernel's log: SECURITY.md"),
    (51, "short children, daemons", "tests/tier/test_usage.py"),
    (52, "heap, maps, memfd, sockets, who is killed",
     "tests/tier/test_limits.py, test_review.py"),
    (55, "what is the caller's: watches, signals, queues, terminals",
     "tests/escape/test_supervisor.py, tests/tier/test_limits.py"),
    (57, "processor time that is carried over", "tests/escape/test_supervisor.py"),
    (58, "storms of signals; signals that the caller ignores",
     "tests/escape/test_supervisor.py"),
    (59, "SIGKILL of engine and holder, full disks, busy groups",
     "tests/escape/test_supervisor.py, tests/tier/test_end.py, test_crash.py, "
     "tests/robust"),
    (60, "a frozen group", "tests/escape/test_supervisor.py"),
    (63, "side channels", "SECURITY.md; `karzer doctor` shows the host's"),
)


def page():
    """docs/attacks.md."""
    print("<!-- Made by tools/gen from the files in tests/escape. -->\n"
          "# Attacks that are tried in every tier\n\n"
          "Each is first shown to succeed without karzer in the test guest, or "
          "its file says\nwhy it cannot be. Numbers are lines of the catalogue "
          "of attacks.\n\n"
          "| | attack | what it does | what blocks it | bare |\n|--|--|--|--|--|")
    for a in ATTACKS:
        does, blocked = (" ".join(text.split()).replace("|", "\\|")
                         for text in a.says.split("\n\nBlocked "))
        bare = f"succeeds as {a.bare}" if a.bare else a.bare_cannot
        print(f"| {a.line} | `{a.name[4:]}` | {does} | {blocked} | {bare} |")
    print("\n## Elsewhere\n\n| | what | where |\n|--|--|--|")
    for line, what, where in ELSEWHERE:
        print(f"| {line} | {what} | {where} |")


if __name__ == "__main__":
    page()
