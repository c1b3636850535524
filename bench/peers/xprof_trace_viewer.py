"""xprof_trace_viewer.py FILE.xplane.pb: runs XProf's conversion of a profile into the JSON of its trace viewer, as its server
does. Prints one JSON object with the CPU and wall seconds of only that call. It uses a new copy of the file, so nothing is cached."""
import json
import os
import shutil
import sys
import tempfile
import time

from xprof.convert import raw_to_tool_data

with tempfile.TemporaryDirectory() as root:
    run = os.path.join(root, 'plugins', 'profile', 'run')
    os.makedirs(run)
    path = shutil.copy(sys.argv[1], os.path.join(run, 'host.xplane.pb'))
    # Earlier versions show at most one million events, later ones five million.
    os.environ.setdefault('TF_PROFILER_TRACE_VIEWER_MAX_EVENTS', '1000000000')
    wall, cpu = time.perf_counter(), time.process_time()
    text, _ = raw_to_tool_data.xspace_to_tool_data([path], 'trace_viewer', {'use_saved_result': False, 'trace_viewer_options': {}})
    print(json.dumps({'wall_s': time.perf_counter() - wall, 'cpu_s': time.process_time() - cpu,
                      'bytes': len(text) if text else 0}))
    sys.exit(0 if text else 2)
