# SPDX-License-Identifier: Apache-2.0
"""blocks - finds the last expression of a block, as cheaply as can be.

Loaded for a block that is not one short, simple expression. To build a syntax tree
costs more than all else here, so the text is first cut before its last line
that can begin a statement. Where both halves compile on their own, the first
ends where the second begins, and one after the other they are the block.
Whatever is doubtful goes through the tree.
"""
ONLY_AST = 0x400

# A backslash may join lines, and its warnings would come twice; the others say
# how more than their own half is to be read.
DOUBTS = (b"\\", b"\r", b"coding", b"__future__", b"global")
# Lines that begin so belong to a statement that began before them.
CONTINUES = (b" ", b"\t", b"\f", b")", b"]", b"}", b"#", b"else", b"elif",
             b"except", b"finally")


def run(name, source):
    if driver.blocks > 1 and "linecache" in driver.modules:
        driver.part("errors")["register"]()
    codes, last = split(name, source)
    for code in codes:
        exec(code, driver.space)
    if last is not None:
        value = eval(last, driver.space)
        if value is not None:
            driver.part("display")["show_value"](value)


def split(name, source):
    """(codes to run, code of the last expression or None)."""
    return cut(name, source) or by_tree(name, source)


def build(source, name, mode):
    return compile(source, name, mode, driver.future, True)


def cut(name, source):
    if any(doubt in source for doubt in DOUBTS):
        return None
    start = last_statement(source)
    head, tail = source[:start], source[start:]
    padded = b"\n" * head.count(b"\n") + tail
    try:
        codes = (build(head, name, "exec"),) if head else ()
        try:
            return codes, build(padded, name, "eval")
        except SyntaxError:
            if b";" in tail or b"*" in tail:
                return None  # a last expression may hide: `x = 1; x`, `*x,`
            return codes + (build(padded, name, "exec"),), None
    except Exception:
        return None


def last_statement(source):
    """Where the last line starts that can begin a statement."""
    end = len(source)
    while end > 0:
        start = source.rfind(b"\n", 0, end - 1) + 1
        line = source[start:end]
        if line.strip() and not line.startswith(CONTINUES):
            return start
        end = start
    return 0


def by_tree(name, source):
    try:
        tree = compile(source, name, "exec", ONLY_AST | driver.future, True)
    except (RecursionError, MemoryError):
        tree = None  # too deep for a tree, perhaps not for a program
    if tree is None or not tree.body or not is_expression(tree.body[-1]):
        code = build(source, name, "exec")
        if tree is not None:
            driver.future |= future_flags(tree.body)
        return (code,), None
    import _ast

    flags = driver.future | future_flags(tree.body)
    value = _ast.Expression(tree.body.pop().value)
    codes = (build(tree, name, "exec"),) if tree.body else ()
    last = compile(value, name, "eval", flags, True)
    driver.future = flags
    return codes, last


def is_expression(node):
    return type(node).__name__ == "Expr"


def future_flags(body):
    """What `from __future__ import` there says about the blocks to come."""
    flags = 0
    for node in body:
        if getattr(node, "module", None) == "__future__":
            import __future__

            for alias in node.names:
                feature = getattr(__future__, alias.name, None)
                flags |= getattr(feature, "compiler_flag", 0)
    return flags
