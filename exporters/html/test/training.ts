// Makes a made-up run: a training on one device that recompiles, with nested Python calls, a loader
// that waits, counters and flows. Equal sizes give equal bytes.
import type { Finding, Run } from '../src/run.ts';
import {
  type Argument,
  type Data,
  encodeArguments,
  encodeFlows,
  encodeSlices,
  type LaneEvents,
  type Slice,
  type Texts,
} from './encode.ts';

export interface Training {
  run: Run;
  lanes: LaneEvents[];
  texts: Texts;
  data: Data;
}

const kMs = 1e6;
const kCategories = [
  '',
  'host',
  'scope',
  'step',
  'python',
  'tracing',
  'compile',
  'execute',
  'transfer',
  'input',
  'module',
  'op',
];
const kParts = ['tracing', 'compile', 'execute', 'transfer', 'input', 'your code', 'unrecorded'];
const kCompiling = [0, 1, 4, 9, 13]; // steps that compile

// Returns a generator of random numbers from 0 to 1 (mulberry32).
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Book {
  readonly texts: Texts = new Map();
  private readonly ids = new Map<string, number>();
  lastId = 0;

  text(text: string): number {
    let id = this.ids.get(text);
    if (id === undefined) {
      id = this.ids.size + 1;
      this.ids.set(text, id);
      this.texts.set(id, text);
    }
    return id;
  }

  slice(ts: number, dur: number, name: string, category: string): Slice {
    const [start, end] = [Math.round(ts), Math.round(ts + dur)];
    return {
      ts: start,
      dur: end - start,
      name: this.text(name),
      category: kCategories.indexOf(category),
      id: ++this.lastId,
    };
  }
}

// Makes a run of about `events` slices, spread over `steps` steps. If `names` are given, events
// have these names.
export function makeTraining({ events = 3000, names = [] as string[], steps = 20 } = {}): Training {
  const book = new Book();
  const next = random(7);
  const main: Slice[][] = [[], [], [], [], [], []];
  const worker: Slice[][] = [[], []];
  const modules: Slice[][] = [[]];
  const ops: Slice[][] = [[]];
  const flows: [number, number][] = [];
  const args: [number, Argument[]][] = [];
  const run: Run = emptyRun();
  const memory: { ts: number; value: number }[] = [];
  const queue: { ts: number; value: number }[] = [];
  const perStep = Math.max(20, Math.floor(events / steps));
  let now = 6 * kMs;
  let heap = 900e6;
  for (let step = 0; step < steps; ++step) {
    const start = now;
    const isCompiling = kCompiling.includes(step);
    const input = (2 + 3 * next()) * kMs;
    const tracing = (9 + 4 * next()) * kMs;
    const compile = isCompiling ? (step < 2 ? 900 : 240 + 60 * next()) * kMs : 0;
    const execute = (3 + next()) * kMs;
    const device = (11 + 4 * next()) * kMs;
    const idle = Math.max(0, device - execute);
    const idleStep = input + tracing + compile + 0.4 * kMs;
    worker[0].push(
      book.slice(start - 3 * kMs, input + 2 * kMs, 'DataLoader worker: next batch', 'input'),
    );
    worker[1].push(book.slice(start - 2 * kMs, input, 'decode and augment', 'python'));
    const whole = input + tracing + compile + execute + idle + kMs;
    main[0].push(book.slice(start, whole, `train_step ${step}`, 'step'));
    main[1].push(book.slice(start, input, 'wait for the next batch', 'input'));
    now += input;
    const traced = book.slice(now, tracing, 'forward and backward', 'scope');
    main[1].push(traced);
    fill(book, next, main, now, tracing, Math.floor(perStep * 0.6), names);
    now += tracing;
    if (isCompiling) {
      main[1].push(book.slice(now, compile, 'XlaCompile', 'compile'));
      main[2].push(book.slice(now + compile * 0.02, compile * 0.3, 'HLO passes', 'host'));
      main[2].push(
        book.slice(now + compile * 0.33, compile * 0.64, 'LLVM code generation', 'host'),
      );
      now += compile;
    }
    const launch = book.slice(now, execute, 'ExecuteComputation', 'execute');
    main[1].push(launch);
    const module = book.slice(now + 0.4 * kMs, device, `SyncTensorsGraph.${180 + step}`, 'module');
    modules[0].push(module);
    flows.push([launch.id, module.id]);
    args.push([
      launch.id,
      [
        [book.text('graph'), 3, book.text(`3f2a${step.toString(16).padStart(4, '0')}`)],
        [book.text('inputs'), 0, 212],
        [book.text('bytes'), 1, 18446744073709551615n],
      ],
    ]);
    let at = module.ts;
    const opCount = Math.max(6, Math.floor(perStep * 0.3));
    for (let i = 0; i < opCount; ++i) {
      const dur = (device / opCount) * (0.3 + 0.7 * next());
      ops[0].push(
        book.slice(
          at,
          dur,
          names[i % names.length] ??
            `${['fusion', 'dot', 'convolution', 'reduce', 'copy'][i % 5]}.${i % 40}`,
          'op',
        ),
      );
      at += device / opCount;
    }
    now += execute + idle + kMs;
    heap += isCompiling ? 60e6 : 2e6 * next();
    memory.push(
      { ts: Math.round(start), value: Math.round(heap) },
      { ts: module.ts, value: Math.round(heap + 180e6 + 20e6 * next()) },
    );
    queue.push(
      { ts: Math.round(start), value: Math.floor(4 * next()) },
      { ts: Math.round(start + 4 * kMs), value: 3 },
    );
    run.steps.push({
      process: 1,
      number: 100 + step,
      ts_ns: main[0][step].ts,
      dur_ns: main[0][step].dur,
      warm_up: step < 2,
    });
    run.step_parts_ns.push(
      [tracing, compile, execute, 0.6 * kMs, input, 0.4 * kMs, idle].map(Math.round),
    );
    run.devices[0].idle_ns.push(Math.round(idleStep));
    now = Math.max(now, main[0][step].ts + main[0][step].dur);
  }
  const end = Math.round(now + 30 * kMs);
  const lanes: LaneEvents[] = [
    { id: 1, rows: main, samples: null },
    { id: 2, rows: worker, samples: null },
    { id: 3, rows: modules, samples: null },
    { id: 4, rows: ops, samples: null },
    { id: 5, rows: [], samples: memory },
    { id: 6, rows: [], samples: queue },
    {
      id: 7,
      rows: [[book.slice(40 * kMs, 400 * kMs, 'checkpoint upload', 'host')]],
      samples: null,
    },
  ];
  for (const { rows } of lanes) for (const row of rows) row.sort((a, b) => a.ts - b.ts);
  run.span.end_ns = end;
  run.covered = [[2 * kMs, end - 20 * kMs]];
  const laneNames: [string, Run['lanes'][0]['kind'], string | null][] = [
    ['MainThread', 'host_thread', null],
    ['loader worker 0', 'host_thread', null],
    ['XLA Modules', 'device', 'CPU:0'],
    ['XLA Ops', 'device', 'CPU:0'],
    ['memory in use, bytes', 'counter', null],
    ['batches ready', 'counter', null],
    ['uploader', 'host_thread', null],
  ];
  run.lanes = lanes.map(({ id, rows, samples }, i) => ({
    id,
    process: i === 6 ? 2 : 1,
    kind: laneNames[i][1],
    name: laneNames[i][0],
    device: laneNames[i][2],
    rows: samples ? 1 : rows.length,
    events: samples?.length ?? rows.reduce((sum, row) => sum + row.length, 0),
  }));
  addFindings(run);
  const data = {
    run,
    slices: encodeSlices(lanes, end, book.texts),
    arguments: encodeArguments(args, book.texts),
    flows: encodeFlows(flows),
  };
  return { run, lanes, texts: book.texts, data };
}

// Adds about `count` nested calls below row 1, between `start` and `start + dur`.
function fill(
  book: Book,
  next: () => number,
  rows: Slice[][],
  start: number,
  dur: number,
  count: number,
  names: string[],
): void {
  const calls = Math.max(1, Math.floor(count / 8));
  const each = dur / calls;
  const layers = [
    'Conv2d.forward',
    'Linear.forward',
    'BatchNorm2d.forward',
    'relu',
    'cross_entropy',
    'Tensor.backward',
    'Adam.step',
  ];
  for (let i = 0; i < calls; ++i) {
    const at = start + i * each;
    const layer = layers[Math.floor(next() * layers.length)];
    rows[2].push(book.slice(at, each * 0.95, names[i % names.length] ?? layer, 'python'));
    for (let j = 0; j < 3; ++j) {
      const inner = at + j * each * 0.3;
      rows[3].push(
        book.slice(
          inner,
          each * 0.28,
          `aten::${['mul', 'add', 'convolution', 'permute', 'view'][Math.floor(next() * 5)]}`,
          'python',
        ),
      );
      if (j < 2)
        rows[4].push(book.slice(inner, each * 0.15 * (0.4 + next()), 'LowerToIr', 'tracing'));
      if (j < 2) rows[5].push(book.slice(inner, each * 0.05, 'hash', 'tracing'));
    }
  }
}

function emptyRun(): Run {
  return {
    xlaprof: '0.1.0',
    label: '2026_11_21_03_06_23',
    other_runs: [],
    report: {
      summary: {
        steps: null,
        compile_count: null,
        execution_count: null,
        coverage: [
          {
            path: '/data/run/localhost_9012.xplane.pb',
            format: 'xspace',
            steps: 20,
            compiles: 5,
            executions: 20,
            transfers: 40,
            events: 3000,
            note: 'aligned with the other sources by 5 compile hashes',
          },
          {
            path: '/data/run/pt_xla_debug.log',
            format: 'debug_log',
            steps: 20,
            compiles: 5,
            executions: 20,
            transfers: null,
            events: null,
            note: null,
          },
        ],
      },
      findings: [],
      issues: [
        {
          path: '/data/run/localhost_9012.xplane.pb',
          code: 'overlapping_steps',
          severity: 'warning',
          count: 2,
          offset: 10240,
          line: null,
          advice: 'Two steps overlap; the later start is used.',
        },
      ],
    },
    span: { origin_ns: '991714441', base_epoch_ns: '1795230383541910441', end_ns: 0 },
    covered: [],
    damaged_chunks: 0,
    categories: kCategories,
    processes: [
      { id: 1, name: 'python3 train.py', detail: 'rank 0, vm, pid 21403' },
      { id: 2, name: 'uploader', detail: 'vm, pid 21377' },
    ],
    lanes: [],
    step_parts: kParts,
    step_parts_ns: [],
    devices: [{ process: 1, name: 'CPU:0', idle_ns: [], steady_ns: 0, steady_idle_ns: 0 }],
    steps: [],
    marks: [],
    densities: [],
    reasons: [],
    quotes: [],
  };
}

function finding(part: Partial<Finding>): Finding {
  return {
    kind: 'recompilation',
    severity: 'warning',
    title: '',
    subject: { file: null, line: null, function: null, scope: null, op: null, graph_hash: null },
    count: null,
    per_step: null,
    cost_ns: null,
    cost_note: null,
    saving_ns: null,
    saving_note: null,
    reason: null,
    advice: null,
    evidence: [],
    fingerprint: 'f',
    because_of: null,
    total_cost_ns: null,
    ...part,
  };
}

function addFindings(run: Run): void {
  const compiled = kCompiling.filter((step) => run.steps[step]);
  const { findings } = run.report;
  const compileStart = (step: number) =>
    run.steps[step].ts_ns! + run.step_parts_ns[step][4] + run.step_parts_ns[step][0];
  findings.push(
    finding({
      title:
        'train step recompiled 5 times: batch dimension of input f32[64,1,28,28] changes (64, 48, 17, 33)',
      subject: {
        file: '/home/user/train/recompile_dynamic_batch.py',
        line: 7,
        function: 'body',
        scope: 'train.1',
        op: 'xla::device_data',
        graph_hash: '3f2a9c417be0d1526a8f30c4e97b1d08',
      },
      count: 5,
      cost_ns: 1.54e9,
      cost_note: 'their compile time, from the XSpace and the metrics’ deltas',
      saving_ns: 0.925e9,
      saving_note:
        'padded to 16, 32, 64: 3 compiles fewer, at 308 ms each; the padded elements (39 % more) cost device time that is not counted here',
      reason: {
        type: 'shape_change',
        state: 'ongoing',
        step: null,
        node: 'xla::device_data',
        before: 'f32[64,1,28,28]',
        after: 'f32[48,1,28,28]',
        location: 'train.py:7',
        text: 'The IR dump shows it.',
      },
      advice:
        'Pad the batch dimension of this input to 64 (one program), or to the buckets 16, 32, 64 (3 programs, 39 % more elements instead of 96 %), and mask the padding out of the loss.',
    }),
    finding({
      kind: 'device_gap',
      title:
        'CPU:0 idle 434 ms (41.0 % of the steady time) in 5 gaps while the host traced and prepared graphs',
      subject: { ...finding({}).subject, scope: 'train.1' },
      count: 5,
      cost_ns: 434e6,
      cost_note: 'idle time of CPU:0 between executions, in 15 steady steps, from its ops.',
      reason: {
        type: 'tracing',
        state: null,
        step: null,
        node: null,
        before: null,
        after: null,
        location: null,
        text: 'The device waits for the next graph.',
      },
      advice:
        'Trace less: move what does not change out of the step, or compile it once with torch_xla.compile.',
    }),
    finding({
      kind: 'slow_compile',
      severity: 'info',
      title: 'the first compilations of 2 places took 1.8 s, the slowest 900 ms',
      subject: { ...finding({}).subject, file: '/home/user/train/common.py', line: 27 },
      count: 2,
      cost_ns: 1.8e9,
      advice: 'Keep the compilation cache between runs (torch_xla: xr.initialize_cache).',
      evidence: [
        {
          table: 'compile',
          rows: [4],
          ts_ns: null,
          dur_ns: null,
          text: '900 ms, 167 nodes, graph cf62fc55',
        },
      ],
    }),
  );
  for (const step of compiled) {
    run.marks.push({
      finding: 0,
      ts_ns: compileStart(step),
      dur_ns: run.step_parts_ns[step][1],
      lane: 1,
      text: `compile of ${Math.round(run.step_parts_ns[step][1] / kMs)} ms`,
    });
    run.marks.push({
      finding: 1,
      ts_ns: run.steps[step].ts_ns!,
      dur_ns: Math.max(1, compileStart(step) - run.steps[step].ts_ns!),
      lane: null,
      text: 'gap before the execution',
    });
  }
  run.reasons = [
    {
      before: 'graph 3f2a9c41, step 100',
      after: 'graph 77b0e2d5, step 101',
      rows: [
        ['xla::device_data f32[500,784]', 'xla::device_data f32[500,784]', 0, 'common.py:12'],
        [
          'xla::device_data f32[64,1,28,28]',
          'xla::device_data f32[48,1,28,28]',
          2,
          'recompile_dynamic_batch.py:7',
        ],
        ['aten::view f32[64,784]', 'aten::view f32[48,784]', 1, 'common.py:26'],
        ['aten::mm f32[64,500]', 'aten::mm f32[48,500]', 1, 'common.py:27'],
        [null, null, 0, 14],
        ['aten::relu f32[64,500]', 'aten::relu f32[48,500]', 1, 'common.py:27'],
        ['prim::Constant 0.001', 'prim::Constant 0.001', 0, null],
      ],
      omitted: 126,
    },
    null,
    null,
  ];
  run.quotes = [
    {
      file: '/home/user/train/recompile_dynamic_batch.py',
      line: 7,
      text: '    loss = model(batch.to(device)).mean()',
      newer_than_capture: true,
    },
    null,
    null,
  ];
}
