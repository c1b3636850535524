"""xprof_view.py FILE prints what XProf shows for a profile, as JSON: the steps of its overview, their labels, and the threads
of its trace viewer."""
import json
import sys

from xprof.convert import raw_to_tool_data

steps = []
for table in json.loads(raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "overview_page", {})[0]):
    if table.get("cols") and table["cols"][0]["id"] == "stepnum":
        steps = [row["c"][0]["v"] for row in table["rows"]]
records = json.loads(raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "trace_viewer", {})[0])["traceEvents"]
print(json.dumps({
    "steps": steps,
    "labels": sorted({r["args"]["step_name"] for r in records if "step_name" in r.get("args", {})}),
    "threads": sorted({r["args"]["name"] for r in records if r.get("name") == "thread_name"}),
    "names": sorted({r["name"] for r in records if r.get("ph") == "X"}),
}))
