# SPDX-License-Identifier: Apache-2.0
"""display - objects as mime bundles: text, _repr_*_ methods, figures.

Loaded at the first object that is displayed. What the program's own methods
give is checked here, so that they can't break the channel.
"""
import _io
import sys

BytesIO = _io.BytesIO

RESULT = 64
VALUE = 1
MIMES_MAX = 32
MIME_MAX = 100
TEXT_MAX = 1 << 20  # characters of text/plain
BUNDLE_MAX = (16 << 20) - 4096

METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_latex_", "text/latex"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_pdf_", "application/pdf"),
    ("_repr_json_", "application/json"),
    ("_repr_javascript_", "application/javascript"),
)
BASE64 = ("image/png", "image/jpeg", "image/gif", "image/webp",
          "application/pdf")  # when a program gives text for these
PLAIN = (int, float, complex, bool, str, bytes, list, tuple, dict, set,
         frozenset, range)
TOKEN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                  "0123456789!#$&^_.+-")
shown = []  # figures that this block displayed


def display(objects):
    for value in objects:
        show(value, 0)


def show_value(value):
    show(value, VALUE)


def show(value, flags):
    bundle = bundle_of(value)
    driver.flush()
    if driver.connected():
        driver.send(RESULT, encode(bundle, flags))
    elif not flags:  # in a forked child
        sys.stdout.write(bundle["text/plain"].decode() + "\n")


def encode(bundle, flags):
    parts, count, size = [], 0, 0
    for mime, data in bundle.items():
        size += len(mime) + len(data) + 8
        if count == MIMES_MAX or size > BUNDLE_MAX:
            note("%s of %d bytes is more than can be displayed"
                 % (mime, len(data)))
            size -= len(mime) + len(data) + 8
            continue
        count += 1
        for text in (mime.encode("ascii"), data):
            parts += len(text).to_bytes(4, "little"), text
    return (flags.to_bytes(4, "little") + count.to_bytes(4, "little")
            + b"".join(parts))


def note(text):
    try:
        sys.stderr.write("karzer: " + text + "\n")
        sys.stderr.flush()
    except Exception:
        pass


def bundle_of(value):
    """{mime type: bytes}, text/plain first."""
    bundle = {"text/plain": to_bytes("text/plain", text_of(value))}
    if type(value) in PLAIN or isinstance(value, type):
        return bundle
    if is_figure(value):
        shown.append(value)
        bundle["image/png"] = png_of(value)
        return bundle
    given = call(value, "_repr_mimebundle_")
    if isinstance(given, tuple):
        given = given[0] if given else None
    if isinstance(given, dict):
        for mime, data in given.items():
            add(bundle, mime, data)
    for name, mime in METHODS:
        if mime not in bundle:
            add(bundle, mime, call(value, name))
    return bundle


def text_of(value):
    try:
        text = repr(value)
    except Exception as error:
        return "<%s object: repr() raised %s>" % (
            type(value).__name__, driver.part("errors")["one_line"](error))
    if len(text) > TEXT_MAX:
        text = "%s... (%d more characters)" % (text[:TEXT_MAX],
                                               len(text) - TEXT_MAX)
    return text


def call(value, name):
    """What the method says; None without one. Looked up in the class, since
    some objects have every attribute."""
    if getattr(type(value), name, None) is None:
        return None
    try:
        return getattr(value, name)()
    except NotImplementedError:
        return None
    except Exception as error:
        driver.part("errors")["complain"](error)
        return None


def add(bundle, mime, data):
    if isinstance(data, tuple) and data:  # (data, metadata)
        data = data[0]
    if data is None or not is_mime(mime):
        return
    try:
        bundle[mime] = to_bytes(mime, data)
    except Exception as error:
        driver.part("errors")["complain"](error)


def is_mime(mime):
    if type(mime) is not str or len(mime) > MIME_MAX:
        return False
    kind, slash, subtype = mime.partition("/")
    return bool(kind and slash and subtype and TOKEN.issuperset(kind)
                and TOKEN.issuperset(subtype))


def to_bytes(mime, data):
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    if mime in BASE64 and isinstance(data, str):
        import binascii
        return binascii.a2b_base64(data)
    if mime == "application/json" or not isinstance(data, str):
        import json
        data = json.dumps(data)
    return data.encode("utf-8", "backslashreplace")


# matplotlib, recognised without importing it

def is_figure(value):
    return any(kind.__name__ == "Figure"
               and kind.__module__ == "matplotlib.figure"
               for kind in type(value).__mro__)


def png_of(figure):
    out = BytesIO()
    figure.savefig(out, format="png", bbox_inches="tight")
    return out.getvalue()


def show_figures(*_args, **_options):
    """plt.show(), and the end of a block: open figures are shown once, and
    closed."""
    pyplot = driver.modules["matplotlib.pyplot"]
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        try:
            if not any(figure is other for other in shown):
                show(figure, 0)
        finally:
            pyplot.close(figure)
    del shown[:]


def show_figures_left():
    try:
        show_figures()
    except Exception as error:
        driver.part("errors")["complain"](error)
