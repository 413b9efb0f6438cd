# SPDX-License-Identifier: Apache-2.0
"""carets - the ^^^^ below a line of a block, as 3.11 and 3.12 draw them.

Used by errors.py. What is not certain is not drawn.
"""
import sys

ONLY_AST = 0x400
NEWER = sys.version_info >= (3, 11, 4)


def of(chain, name, number, function, line):
    spot = position(chain, name, number, function)
    if spot is None:
        return ""
    end_line, start, end = spot
    data = line.encode("utf-8")
    start = len(data[:start].decode("utf-8", "replace"))
    stripped = line.strip()
    indent = len(line) - len(line.lstrip())
    anchors = None
    if end_line == number:
        end = len(data[:end].decode("utf-8", "replace"))
        anchors = find_anchors(line[start:end])
    else:
        end = indent + len(stripped)
    if end <= start or (end - start >= len(stripped) and anchors is None):
        return ""
    marks = "^" * (end - start)
    if anchors is not None:
        left, right = anchors
        marks = ("~" * left + "^" * (right - left)
                 + "~" * (end - start - right))
    return " " * (start - indent) + marks


def position(chain, name, number, function):
    """(end line, first column, last column) where all frames agree."""
    found = set()
    for error in chain:
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if trace.tb_lineno == number and code.co_filename == name \
                    and code.co_name == function:
                found.add(spot_of(code, trace.tb_lasti))
            trace = trace.tb_next
    if len(found) != 1:
        return None
    return found.pop()


def spot_of(code, instruction):
    if instruction < 0:
        return None
    for index, (_, end_line, start, end) in enumerate(code.co_positions()):
        if index == instruction // 2:
            if None in (end_line, start, end):
                return None
            return end_line, start, end
    return None


def find_anchors(segment):
    """Where the operator, or the index, of the expression is."""
    if not any(mark in segment for mark in "+-*/%@&|^<>["):
        return None
    try:
        body = compile(segment, "", "exec", ONLY_AST, True).body
    except Exception:
        return None
    if len(body) != 1 or type(body[0]).__name__ != "Expr":
        return None
    node, data = body[0].value, segment.encode("utf-8")
    kind = type(node).__name__
    if kind == "BinOp":
        spot = operator_of(segment, data, node)
    elif kind == "Subscript":
        spot = index_of(segment, data, node)
    else:
        return None
    return spot


def chars(data, end):
    return len(data[:end].decode("utf-8", "replace"))


def operator_of(segment, data, node):
    start = chars(data, node.left.end_col_offset)
    between = segment[start:chars(data, node.right.col_offset)]
    offset = len(between) - len(between.lstrip())
    left = start + offset
    right = left + 1
    if not between[offset + 1:offset + 2].isspace() \
            and offset + 1 < len(between):
        right += 1
    while NEWER and segment[left:left + 1] and (
            segment[left].isspace() or segment[left] in ")#"):
        left, right = left + 1, right + 1
    return left, right


def index_of(segment, data, node):
    left = chars(data, node.value.end_col_offset)
    right = chars(data, node.slice.end_col_offset + 1)
    if NEWER:
        left = max(left, segment.find("[", left))
        right = max(right, segment.find("]", right - 1) + 1)
    return left, right
