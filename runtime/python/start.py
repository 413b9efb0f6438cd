# SPDX-License-Identifier: Apache-2.0
"""start - what `python3 -I` does before the program, done when it matters.

The driver runs without site.py (-S), for a third of a short run is spent in
it. Before the first block that could tell the difference, this runs the
interpreter's own site.py, whole: the paths, .pth files, sitecustomize, a venv's
pyvenv.cfg, exit and help. From then on imports are watched for three modules.
"""
import sys


def with_site(old):
    """sys.flags as they are without -S; subprocess passes flags on."""
    names = [item.partition("=")[0]
             for item in repr(old).partition("(")[2].rstrip(")").split(", ")]
    names = names[:len(old)]
    values = [0 if name == "no_site" else getattr(old, name)
              for name in names]

    def field(index):
        return property(lambda self: self[index])

    def represent(self):
        return "sys.flags(%s)" % ", ".join(
            "%s=%r" % item for item in zip(names, self))

    members = {name: field(index) for index, name in enumerate(names)}
    for name in ("n_fields", "n_sequence_fields", "n_unnamed_fields",
                 "__match_args__"):
        if hasattr(old, name):
            members[name] = getattr(old, name)
    for name in dir(old):  # fields that are no items
        if name[0] != "_" and name not in members \
                and name not in ("count", "index"):
            members[name] = getattr(old, name)
    members.update(__slots__=(), __module__="sys", __repr__=represent)
    return type("flags", (tuple,), members)(values)


def run_site():
    if not sys.flags.no_site:
        return
    sys.flags = with_site(sys.flags)
    try:
        import site  # noqa: F401
    except Exception as error:
        driver.part("errors")["complain"](error)


class Watch:
    """Finds nothing itself; sees to three modules when they are imported."""

    def __init__(self, seen):
        self.seen = seen

    def find_spec(self, name, path=None, target=None):
        if name not in self.seen:
            return None
        before, after = self.seen[name]
        if before is not None:
            before()
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                self.tell(spec.loader, after)
                return spec
        return None

    def tell(self, loader, after):
        """Calls after(module) once the module's code has run."""
        run = getattr(loader, "exec_module", None)
        if after is None or run is None or isinstance(loader, type):
            return

        def exec_module(module):
            del loader.exec_module
            run(module)
            after(module)

        loader.exec_module = exec_module

    def invalidate_caches(self):
        pass


def before_matplotlib():
    import os

    os.environ.setdefault("MPLBACKEND", "Agg")


def after_pyplot(pyplot):
    def show(*args, **kwargs):
        """Displays all open figures, and closes them."""
        driver.part("display")["show_figures"]()

    pyplot.show = show


def after_linecache(linecache):
    driver.part("errors")["fill_linecache"](linecache)


def start():
    driver.site = True
    run_site()
    sys.meta_path.insert(0, Watch({
        "linecache": (None, after_linecache),
        "matplotlib": (before_matplotlib, None),
        "matplotlib.pyplot": (None, after_pyplot),
    }))
    if "linecache" in sys.modules:
        after_linecache(sys.modules["linecache"])


start()
