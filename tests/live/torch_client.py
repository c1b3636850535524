"""torch_client.py PORT FOLDER takes a profile of the program at that port with torch_xla's own client."""
import sys

import torch_xla.debug.profiler as xp

xp.trace(f"localhost:{sys.argv[1]}", sys.argv[2], duration_ms=1000, num_tracing_attempts=5)
