"""Findings as objects."""
import dataclasses
import html
from typing import Any, Dict, List, Optional, Tuple, Union


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Rows of the run that show a finding. `query` is SQL for run.sql; `text` says what they show."""

    text: str
    query: Optional[str]
    table: Optional[str]
    rows: List[int]


@dataclasses.dataclass(frozen=True)
class Finding:
    """What slows the run: where, why, what it costs, and what to do. Members that are not known are None.

    `kind` is the diagnosis, and `severity` is "error", "warning" or "info". `file`, `line` and `function` are the place.
    `count` says how often it happened, `cost_ns` what that took, and `saving_ns` what the remedy would save. `certainty` says
    from what these are known. `reason` is a word for the cause, `why` is a sentence about it, and `state` says when in the run
    it happened. `advice` is the remedy. `evidence` are rows of the run that show it. `fingerprint` is the same in other runs of the program.
    """

    kind: str
    severity: str
    title: str
    file: Optional[str]
    line: Optional[int]
    function: Optional[str]
    count: Optional[int]
    cost_ns: Optional[int]
    saving_ns: Optional[int]
    certainty: Optional[str]
    reason: Optional[str]
    state: Optional[str]
    why: Optional[str]
    advice: Optional[str]
    evidence: List[Evidence]
    fingerprint: Optional[str]
    json: Dict[str, Any] = dataclasses.field(repr=False, compare=False)  # all that `xlaprof report --format json` says

    @classmethod
    def from_json(cls, finding: Dict[str, Any]) -> "Finding":
        subject, reason = finding.get("subject") or {}, finding.get("reason") or {}
        evidence = [Evidence(item.get("text") or "", item.get("query"), item.get("table"), item.get("rows") or [])
                    for item in finding.get("evidence") or []]
        same: Dict[str, Any] = {key: finding.get(key)
                                for key in ("kind", "severity", "title", "count", "certainty", "advice", "fingerprint")}
        return cls(**same, cost_ns=_integer(finding.get("cost_ns")), saving_ns=_integer(finding.get("saving_ns")), file=subject.get("file"),
                   line=subject.get("line"), function=subject.get("function"), reason=reason.get("type"), state=reason.get("state"),
                   why=reason.get("text"), evidence=evidence, json=finding)

    @property
    def place(self) -> str:
        """The file with its line, or "" if no source knows them."""
        return "" if self.file is None else self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def cost(self) -> str:
        """The cost as people read it, such as "1.25 s", or "" if it was not measured."""
        return "" if self.cost_ns is None else _duration(self.cost_ns)

    def __str__(self) -> str:
        return f"{self.severity}: {self.title}"

    def _repr_html_(self) -> str:
        return Findings([self])._repr_html_()


class Findings(List[Finding]):
    """A list of findings, the most important first, which a notebook shows as a table."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "Nothing found that needs fixing."

    def _repr_html_(self) -> str:
        if not self:
            return "<p>Nothing found that needs fixing.</p>"
        rows = "".join("<tr>" + "".join(f'<td style="text-align:left;vertical-align:top">{cell}</td>' for cell in _cells(finding)) + "</tr>"
                       for finding in self)
        head = "".join(f'<th style="text-align:left">{name}</th>' for name in ("severity", "finding", "line", "cost"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(finding: Finding) -> Tuple[str, ...]:
    more = "".join(f"<br><small>{html.escape(text)}</small>" for text in (finding.why, finding.advice) if text)
    return (html.escape(finding.severity), html.escape(finding.title) + more, html.escape(finding.place), finding.cost)


def _integer(value: Union[int, str, None]) -> Optional[int]:
    # JSON has integers beyond 2^53 as strings.
    return int(value) if isinstance(value, str) else value


def _duration(ns: int) -> str:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns} ns"
