"""What the extension asks Python for, once per place or value."""
import opcode

_LOAD_CONST = opcode.opmap["LOAD_CONST"]
_EXTENDED_ARG = opcode.opmap["EXTENDED_ARG"]


def line_of(code, name):
    """Returns the line on which `code` uses the literal `name`, or 0 if it is on several lines or on none.

    A scope is found again by its name and its code, so its line is known only if the name is on one line of the code.
    """
    constant = next((number for number, value in enumerate(code.co_consts) if value is name), None)
    if constant is None:
        return 0
    used, extended = [], 0
    words = code.co_code
    for at in range(0, len(words), 2):
        argument = words[at + 1] | extended
        extended = argument << 8 if words[at] == _EXTENDED_ARG else 0
        if words[at] == _LOAD_CONST and argument == constant:
            used.append(at)
    lines = {line for begin, end, line in code.co_lines() for at in used if begin <= at < end}
    return lines.pop() or 0 if len(lines) == 1 else 0


def value_of(value, depth=0):
    """Returns an argument's value as an int, a float or a str. Tensors become their type and shape, because reading
    their elements may wait for a device."""
    if isinstance(value, (int, float, str)):
        return value
    kind = type(value)
    shape = getattr(value, "shape", None)
    if shape is not None and hasattr(value, "dtype"):
        if kind.__module__ == "numpy" and shape == ():
            return value_of(value.item(), depth + 1) if depth < 2 else str(value)
        return f"{str(value.dtype).replace('torch.', '')}[{','.join(str(size) for size in shape)}]"
    if kind in (list, tuple) and depth < 2:
        items = [str(value_of(item, depth + 1)) for item in value[:16]]
        if len(value) > 16:
            items.append("...")
        return f"[{', '.join(items)}]" if kind is list else f"({', '.join(items)})"
    if kind is dict and depth < 2:
        return "{" + ", ".join(f"{key}: {value_of(value[key], depth + 1)}" for key in list(value)[:16]) + "}"
    return str(value)


def kind_of(function):
    """Returns "coroutine", "generator", "async generator" or "function"."""
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return "async generator" if flags & 0x200 else "coroutine" if flags & 0x80 else "generator" if flags & 0x20 else "function"
