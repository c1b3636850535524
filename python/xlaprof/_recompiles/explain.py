"""Says why something was compiled, from what the frameworks wrote during the block."""
import textwrap

from xlaprof import _run

_KINDS = ("recompilation", "recompile_limit")
_COLUMNS = 110
# What to do about a reason that a framework states where the analyzers give no advice: they compare compilations, and the one before
# may lie before the block.
_FIXES = {
    "constant_change": "Pass the value as an array or a tensor, so that it is no part of the program.",
    "device_change": "Keep this input on one device.",
    "dtype_change": "Give this input one element type.",
    "environment_change": "Keep the setting the same in all steps.",
    "gradient_change": "Let this input need a gradient in all calls or in none.",
    "input_structure_change": "Pass arguments of one structure in all steps.",
    "layout_change": "Give this input one layout, for example by contiguous().",
    "redefined_function": "Define the function once, outside of the loop.",
    "shape_change": "Give this input few sizes, for example by padding it.",
    "sharding_change": "Give this input one sharding.",
}


def explain(watches, compiles, late):
    """Returns texts about the late ones of the compilations, and the findings about them."""
    texts, findings = [], []
    for watch in watches:
        mine = [compile for compile in compiles if compile.framework == watch.name]
        of_watch = [compile for compile in late if compile.framework == watch.name]
        if not of_watch:
            continue
        try:
            with _run.open(watch.folder) as run:
                found, rest = _look(run, mine, of_watch)
        except _run.Error as error:
            # A report also fails if there is nothing to report on.
            texts.append(_paragraph("why", f"not known. {_not_recorded(watch) or error}", ""))
            continue
        findings += found
        texts += [*map(_of_finding, found), *rest]
    return texts, findings


def _look(run, compiles, late):
    """Returns the findings about late compilations, and texts about the others of them."""
    rows = run.sql("SELECT c.id, c.function, v.file, v.line FROM compile c JOIN compiles v USING (id) "
                   "WHERE NOT c.inferred AND c.persistent_hit IS NOT 1 ORDER BY c.ordinal").dicts()
    reasons = {row["compile_id"]: row for row in run.sql("SELECT compile_id, type, text FROM compile_reason WHERE idx = 0").dicts()}
    row_of = dict(zip(compiles, rows)) if len(rows) == len(compiles) else {}
    for compile, row in row_of.items():
        compile.function = compile.function or row["function"] or ""  # JAX 0.4 does not tell it
        if compile.file is None:
            compile.file, compile.line = row["file"], row["line"]
    findings, explained = [], set()
    for finding in run.findings:
        ids = {row for evidence in finding.evidence if evidence.table == "compile" for row in evidence.rows}
        if row_of:
            mine = [compile for compile in late if row_of[compile]["id"] in ids]
        else:
            mine = [compile for compile in late if compile.function and compile.function == finding.function]
        if finding.kind in _KINDS and mine:
            findings.append(finding)
            explained.update(mine)
    texts = []
    for compile in late:
        if compile not in explained:
            texts.append("\n".join([f"{compile}:", *_of_reason(reasons.get(row_of.get(compile, {}).get("id")), compile, compiles)]))
    return findings, texts


def _of_reason(reason, compile, compiles):
    """Returns lines about a compilation that no finding is about."""
    if reason is not None:
        fix = _FIXES.get(reason["type"])
        return [_paragraph("why", reason["text"]), *([_paragraph("fix", fix)] if fix else [])]
    is_first = compile.function and compile.function not in [other.function for other in compiles[:compiles.index(compile)]]
    return [_paragraph("why", f"{compile.function} was not compiled before in this block" if is_first else "not known")]


def _of_finding(finding):
    reason = finding.json.get("reason") or {}
    lines = [_paragraph("", finding.title, "")]
    if finding.place:
        lines.append(_paragraph("at", finding.place + (f", in {finding.function}" if finding.function else "")))
    if finding.why:
        lines.append(_paragraph("why", finding.why))
    lines += [f"         {sign} {reason[side]}" for sign, side in (("-", "before"), ("+", "after")) if reason.get(side)]
    if finding.state == "warm_up":
        fix = _FIXES.get(finding.reason, "")
        lines.append(_paragraph("fix", f"{fix} If these are first steps, a clean program may compile like this: raise `after`."))
    elif finding.advice:
        lines.append(_paragraph("fix", finding.advice))
    return "\n".join(lines)


def _not_recorded(watch):
    """Returns why the framework wrote nothing, or "" if nobody knows."""
    if watch.name == "PyTorch/XLA":
        return ("PyTorch/XLA executed its first graph before the block, and so writes nothing that says why. Let pytest load xlaprof's "
                "plugin, or set PT_XLA_DEBUG_LEVEL=2 and PT_XLA_DEBUG_FILE")
    return ""


def _paragraph(word, text, indent="  "):
    first = f"{indent}{word:5}" if word else indent
    return textwrap.fill(" ".join(text.split()), _COLUMNS, initial_indent=first, subsequent_indent=" " * len(first), break_long_words=False,
                         break_on_hyphens=False)
