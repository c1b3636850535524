-- A store is one SQLite 3 file that holds one run of a job. docs/schema.md is generated from this file.
--
-- Rules for every table:
--   * Times are int64 nanoseconds since meta.base_epoch_ns. A start is always called ts_ns, and a length dur_ns. They
--     are NULL if no source knows them.
--   * A value that the source does not know is NULL, never 0.
--   * `ordinal` numbers the facts of one process in the order in which they happened, across the tables compile,
--     execution, transfer and fallback. It exists even if the source has no clock.
--   * A column whose comment says `ref X` holds X.id.
-- The comment above a table describes it. The comment after a column gives its unit, its meaning and when it is NULL.

-- Vocabularies. A column whose comment says `word of X` holds a word of vocabulary X, and the build makes an enum of
-- each. A word that is not in the list, because a newer or another program wrote it, is read as `unknown`. The words
-- of code_owner stand in profiler/vocabulary/code.txt.

-- VOCABULARY cut_kind: what asked for a graph to be executed.
--   user_sync                torch_xla.sync or xm.mark_step
--   step_trace_exit          the end of a StepTrace
--   parallel_loader          the next batch of a ParallelLoader
--   torch_xla_compile        the end of a function under torch_xla.compile
--   sync                     a step mark; the source does not say which
--   compile_clear_pending    torch_xla.compile, to finish what was pending before it
--   dynamo_inputs            Dynamo, to compute the inputs of a graph
--   dynamo_compile           Dynamo, to compile a graph
--   dynamo_execute           Dynamo, to run a graph
--   value_access             a read of a value before the step mark
--   unexpected               torch_xla did not expect an execution here
--   call                     a call of a jitted function
--   operation                one of JAX's own functions, called outside of jit
--   compiled_function        a call of a function under torch.compile
--   before_compiled          torch.compile, to finish what was pending before its program runs
--   eager_operation          one operation, which the runtime compiles and starts by itself
--   repeated_operations      the runtime, which noticed that the operations repeat
--   after_backward           the runtime, at the end of a backward pass
--   collective               an operation in which several devices take part

-- VOCABULARY compile_phase: a part of a compilation.
--   dynamo                   torch.compile reads the function's bytecode
--   aot_autograd             torch.compile makes the forward and the backward graph
--   inductor                 Inductor changes and schedules the graphs
--   code_generation          Inductor writes code and compiles it
--   toolchain_probe          Inductor tries what the C++ compiler can do, once for an empty cache

-- VOCABULARY stated_by: what states why a program was compiled.
--   jax_explanation          JAX's explanation of a cache miss (jax_explain_cache_misses)
--   guard                    a check of torch.compile that failed
--   cache_key                TorchTPU's key of the program, of which only a part differs from an earlier one

-- VOCABULARY program_cache: a cache of compiled programs that outlives a process.
--   jax_persistent           JAX's persistent compilation cache
--   aot_autograd             torch.compile's cache of forward and backward graphs
--   inductor                 torch.compile's cache of what Inductor made of a graph

-- VOCABULARY cache_result: what a cache of programs answered.
--   hit                      it had the program
--   miss                     it did not have the program
--   bypass                   it was not asked, because such a program cannot be cached

-- VOCABULARY not_stored: why a compiled program was not written to a cache.
--   compiled_fast            it compiled faster than the threshold
--   small                    it is smaller than the threshold
--   disabled                 the cache is off, or could not be opened
--   other_process            another process of the job writes the cache
--   host_callback            it calls Python
--   write_failed             the cache could not write it

-- VOCABULARY printed_form: how a graph was printed.
--   ir_text                  torch_xla's IR as text
--   ir_dot                   torch_xla's IR as a dot graph
--   hlo                      HLO before optimisation
--   hlo_optimized            HLO after optimisation
--   stablehlo                StableHLO
--   signature                only its inputs
--   torchtpu_ops             TorchTPU's operations as text

-- VOCABULARY time_source: where a duration comes from.
--   profile                  measured by a profile
--   recorded                 measured by our recorder
--   log                      the difference of two times in a log
--   metrics                  exact by the metrics: the time of one compilation, or the difference of two reports
--   metrics_share            an equal part of an exact sum of the metrics

-- VOCABULARY track_kind: what a track shows.
--   host_thread              a thread of the host
--   device                   a device as a whole
--   device_stream            a stream or line of a device
--   async                    operations that overlap
--   counter                  values of a counter
--   step                     steps
--   samples                  Python stacks of a host thread, which were sampled

-- VOCABULARY step_unit: what `xlaprof run` counts as a step of a program.
--   step_mark                a step mark of PyTorch/XLA
--   optimizer_step           a step of the optimizer that steps first
--   step_annotation          a step that the program annotates

-- VOCABULARY profile_moment: why `xlaprof run` took a profile when it did.
--   steady                   the program had not compiled for some steps, or for some time
--   patience                 the program went on compiling for long
--   asked                    the user named the steps

-- VOCABULARY direction: which way a copy goes.
--   to_device                from the host to a device
--   from_device              from a device to the host
--   device_to_device         from one device to another

-- VOCABULARY severity: how important a finding or an issue is.
--   info                     worth knowing
--   warning                  worth a change of the program
--   error                    more than half of the run could be avoided

-- VOCABULARY framework: the framework of a program.
--   pytorch_xla              PyTorch/XLA
--   jax                      JAX
--   pytorch                  PyTorch without XLA
--   torchtpu                 TorchTPU
--   gaudi                    PyTorch on Gaudi
--   tensorflow               TensorFlow
--   cpp                      a C++ program that uses our lazy runtime or recorder

-- VOCABULARY source_kind: what the facts of a source are.
--   timed                    events with times
--   log                      what the process printed while it compiled and executed
--   executed                 each graph that it executed, in order; from these, compilations are inferred
--   lowered                  each function that it lowered
--   compiled                 each program that XLA compiled, without an order
--   reports                  counts and warnings

-- VOCABULARY certainty: how certain a finding is.
--   measured                 a source timed it
--   counted                  a source counted it; times are not known
--   inferred                 it follows from other facts

-- VOCABULARY alarm_kind: what XLA was doing when its alarm about slow operations fired.
--   compile                  compiling a module
--   unoptimized_compile      compiling a module, by an XLA that is itself built without optimisation
--   constant_folding         computing a constant
--   autotuning               trying kernels
--   other                    something else; only its length is known

-- VOCABULARY metric_unit: what the values of a metric measure.
--   ns                       durations
--   bytes                    sizes
--   value                    numbers without a unit

-- VOCABULARY profiler_rule: what torch_xla's own analysis of steps noticed.
--   compile_frequent         graphs are compiled often
--   compile_slow             a compilation takes long
--   execute_slow             an execution takes long
--   not_lowered              an op runs on the CPU
--   transfer_from_frequent   values are read often
--   xrt_frequent             XRT objects are made often

-- VOCABULARY setting_name: a setting that slows the run while it is recorded.
--   ir_debug                 XLA_IR_DEBUG: a Python stack for each op
--   hlo_debug                XLA_HLO_DEBUG: source lines in HLO
--   python_tracer            a profiler that traces Python calls
--   save_tensors             XLA_SAVE_TENSORS_FILE: each graph is printed
--   with_stack               torch.profiler records Python stacks
--   profile_memory           torch.profiler records allocations

-- VOCABULARY state: when in the run something happened that a clean program does only at the beginning.
--   warm_up                  in the first steps only
--   burst                    in several consecutive steps, then no more
--   ongoing                  until the end
--   settled                  not after some step

-- VOCABULARY reason_type: why something happened, as `reason.type` of the report says it.
--   shape_change             an input has another size
--   dtype_change             a tensor has another element type
--   constant_change          a number that is part of the graph has another value
--   op_change                the graph has other ops
--   loop_count_change        a part of the graph is repeated a different number of times
--   live_tensors_change      other tensors are results of the graph
--   parameter_sharing_change other inputs share one buffer
--   donation_change          other inputs are donated
--   sharding_change          an input is sharded in another way
--   layout_change            an input has other strides
--   gradient_change          an input needs a gradient in some calls only
--   device_change            an input is on another device
--   cut_kind_change          the same graph is cut in another way
--   environment_change       a setting of the compiler or of JAX differs
--   redefined_function       the function is a new object at each call
--   input_structure_change   the function is called with arguments of another structure
--   cache_eviction           the graph was compiled before, and was no longer cached
--   unprinted_change         the printed graphs do not differ
--   no_step_mark             no step is marked, so graphs grow
--   outside_jit              operations are called outside of jit
--   value_access             a value is read
--   early_cuts               graphs are cut before the step mark
--   no_lowering              the backend has no lowering of an op
--   no_device                the program found no device
--   too_slow                 it took longer than any program should need
--   many_steps               it took as long as many steps
--   unrolled_loop            the graph contains all turns of a loop
--   first_compilations       each graph compiled once
--   constant_folding         XLA computed constants while it compiled
--   autotuning               XLA tried kernels while it compiled
--   unoptimized_build        XLA itself is built without optimisation
--   outliers                 some took much longer than others
--   type_promotion           a wider type spreads to what is computed with it
--   not_donated              inputs are copied into results that could take their memory
--   kept_alive               inputs are replaced by results that could take their memory
--   to_device                the copies go to a device
--   from_device              the copies go to the host
--   device_to_device         the copies go from device to device
--   different_graphs         the ranks of a job execute different graphs
--   different_lengths        the ranks of a job execute different numbers of graphs
--   last_batches             the last batches of an epoch do not suffice for all devices
--   empty_epoch              an epoch has no batch for each device
--   tied_before_move         parameters were tied before the model moved to the device
--   start_up                 it happened before the first step ended
--   nothing_recorded         the host did nothing that was recorded
--   sampled_line             the host ran a line of Python, as samples of its stack show
--   user_scope               the host was in a scope of the user
--   runtime                  the host was in the runtime
--   tracing                  the host traced
--   execute                  the host started executions
--   input                    the host waited for or prepared input
--   transfer                 the host copied
--   allocator                the host got device memory from the driver, or returned it
--   graph_capture            the host recorded launches in a CUDA graph
--   once                     it happened in a few places of the run only
--   compile                  the host compiled
--   host_wait                the host was late: it launched the next work after the device had become idle
--   launch                   the call that launches the next work was running when the device became idle
--   kernel_wait              the device waited for another stream or device
--   collective               devices waited for each other
--   copy                     the device waited for a copy
--   host_offload             the device waited for a copy from or to the host
--   infeed                   the device waited for data from the host
--   outfeed                  the device waited for the host to take its data
--   send_recv                the device waited for data from another device
--   async                    the device waited for an asynchronous operation
--   high                     a large part of a step
--   moderate                 a noticeable part of a step
--   about_the_step_time      it takes most of a step
--   above_device_busy_time   it takes longer than the device is busy
--   capture_settings         the recording's own settings may have caused it
--   cut_profile              the profile is cut before its first event
--   empty_profile            the profile has no events
--   capped                   the profile stopped at its limit of events
--   no_step_markers          the profile marks no steps
--   one_step                 the profile has a single step
--   window                   the profile covers a part of the executions
--   inside_compile           the profile was taken during a compilation
--   no_kernels               the profile has launches of kernels, but no kernel
--   no_lines                 no source names lines of code
--   no_counters              the metrics reports lack counters
--   no_executions            the metrics reports lack executions
--   no_graphs                no source has graphs
--   no_reasons               no source says why functions were compiled again
--   only_alarms              the sources contain only XLA's alarms
--   no_calls                 no source has executions
--   no_clock                 no source has times of executions
--   untraceable              torch.compile cannot trace an operation
--   data_dependent_branch    a branch depends on the value of a tensor
--   recompile_limit          a function has as many programs as it may have
--   backend_error            the backend of the compiler failed
--   no_compiler              no C++ compiler was found
--   below_threshold          programs compile faster than the threshold of the cache
--   unstable_keys            the same program has another key in each run
--   no_cache                 no cache of programs is configured, or it cannot be written
--   empty_cache              the caches of programs were empty
--   recording_overhead       a setting slowed the run while it was recorded

-- Single values about the file itself: schema_version, xlaprof_version, base_epoch_ns (decimal text; absent if no
-- source knows the epoch), window_start_ns, window_end_ns, run_label and others.
CREATE TABLE meta (
  key TEXT PRIMARY KEY,             -- name of the value; never NULL
  value TEXT NOT NULL               -- its text
) WITHOUT ROWID;

-- Runs that were found in the inputs. The store holds only the facts of the selected run.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,           -- unique number
  label TEXT NOT NULL,              -- what --run takes: RUN folder name, or file name and segment
  started_epoch_ns INTEGER,         -- Unix ns at which it began; NULL when no source says
  selected INTEGER NOT NULL,        -- 1: this store holds it; 0: listed only
  why TEXT NOT NULL                 -- how it was distinguished from the others (RUN folder, restart mark, process)
);

-- Files in the inputs, whether they were read or not.
CREATE TABLE source (
  id INTEGER PRIMARY KEY,           -- unique number
  path TEXT NOT NULL,               -- as given or found
  format TEXT,                      -- what it was written for: the name of an importer or a dialect; NULL: not recognised
  framework TEXT,                   -- word of framework: the one that writes such files; NULL: several do
  bytes INTEGER,                    -- size on disk
  unpacked_bytes INTEGER,           -- size after decompression, which offsets refer to; NULL: it is not compressed
  clock_offset_ns INTEGER,          -- added to its times to get the store's; NULL: it has no clock
  clock_error_ns INTEGER,           -- bound of the error of clock_offset_ns; NULL: not known
  derived_from TEXT,                -- path of the file that it was made from (then it is not imported); NULL: original
  imported INTEGER NOT NULL,        -- 1: its facts are in the store
  note TEXT,                        -- one sentence: why not imported, how aligned; NULL: nothing to say
  dialects TEXT,                    -- names of the dialects found in a program's output, with commas between; NULL: it is no such output
  kind TEXT,                        -- word of source_kind, which decides how its facts are joined with those of others; NULL: not recognised
  links_to TEXT                     -- path of the file that it leads to; NULL: it is no symbolic link
);

-- Processes of the job. Importers write at least one row per source. Joining then merges the rows of the same process.
CREATE TABLE process (
  id INTEGER PRIMARY KEY,           -- unique number
  run_id INTEGER,                   -- ref run; NULL only while importing
  source_id INTEGER,                -- ref source: the first that named it
  segment INTEGER NOT NULL,         -- 0 for the first run inside that source, +1 at each restart mark
  host TEXT,                        -- host name; NULL: unknown
  pid INTEGER,                      -- operating system's id; NULL: unknown
  rank INTEGER,                     -- rank in the job; NULL: unknown
  name TEXT                         -- as the source calls it; NULL: it gives no name
);

-- Everything that was unusual or left out during the import, with its count.
CREATE TABLE import_issue (
  source_id INTEGER,                -- ref source
  code TEXT NOT NULL,               -- stable snake_case name, such as cut_file
  severity TEXT NOT NULL,           -- word of severity
  count INTEGER NOT NULL,           -- how often
  first_offset INTEGER,             -- byte offset of the first in the (decompressed) source; NULL: does not apply
  first_line INTEGER,               -- line of the first, from 1; NULL: a binary format
  advice TEXT NOT NULL,             -- what happened and what to try, in one or two sentences
  PRIMARY KEY (source_id, code)
) WITHOUT ROWID;

-- Interned text. The values of arguments of type bytes are here too, as BLOB.
CREATE TABLE string (
  id INTEGER PRIMARY KEY,           -- from 1; 0 is never used and means none
  text NOT NULL                     -- TEXT, or BLOB for bytes
);

-- Tracks (lanes) of the timeline.
-- @outlives_run
CREATE TABLE track (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  kind TEXT NOT NULL,               -- word of track_kind
  name TEXT NOT NULL,               -- as the source calls it
  tid INTEGER,                      -- thread or line id of the source
  device TEXT,                      -- such as TPU:0; NULL: the track has no device
  parent_id INTEGER,                -- ref track, of which this is a part
  sort INTEGER NOT NULL             -- order of display, lowest on top
);

-- Recordings that xlaprof's own recorder wrote to this store. Until a recording ends, its ring file is beside the
-- store.
-- @outlives_run
CREATE TABLE recording (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER NOT NULL,      -- ref process
  ring TEXT NOT NULL,               -- name of the ring file, in the store's folder
  ring_key TEXT NOT NULL,           -- its random key, in hex: another file of that name is not this recording's
  ended INTEGER NOT NULL,           -- 1: all that was completed is here; 0: it is running, or was killed and is not yet recovered
  clock TEXT NOT NULL,              -- tsc or monotonic: the clock that the events' times were read from
  drain_cpu_ns INTEGER              -- CPU time of the writing thread at its last commit; NULL: no commit
);

-- Threads that were recorded. A thread completed events + dropped events and counter values.
CREATE TABLE recording_thread (
  recording_id INTEGER NOT NULL,    -- ref recording
  segment INTEGER NOT NULL,         -- part of the ring file
  first_slot INTEGER NOT NULL,      -- slot of that part at which the thread began
  track_id INTEGER NOT NULL,        -- ref track
  taken_slots INTEGER NOT NULL,     -- slots of that part that are in the store; later ones are not
  events INTEGER NOT NULL,          -- events and counter values in the store
  dropped INTEGER NOT NULL,         -- events and counter values that were completed while the ring was full
  PRIMARY KEY (recording_id, segment, first_slot)
) WITHOUT ROWID;

-- Chunks of events, stored as columns. A chunk has up to 65536 events of one track, sorted by (start, -end).
-- docs/formats/chunk.md describes the encoding.
CREATE TABLE event_chunk (
  id INTEGER PRIMARY KEY,           -- unique number
  track_id INTEGER NOT NULL,        -- ref track
  first_event_id INTEGER NOT NULL,  -- an event's id is this plus its index
  count INTEGER NOT NULL,           -- number of events
  min_ts_ns INTEGER NOT NULL,       -- earliest start
  max_end_ns INTEGER NOT NULL,      -- latest end
  max_dur_ns INTEGER NOT NULL,      -- longest duration
  columns BLOB NOT NULL             -- start, duration, name, depth, category, flow in, flow out
);

-- Arguments of the events of one chunk, one row per key, type and layout.
CREATE TABLE arg_chunk (
  event_chunk_id INTEGER NOT NULL,  -- ref event_chunk
  key_id INTEGER NOT NULL,          -- ref string: the argument's name
  type TEXT NOT NULL,               -- int, uint, double, string or bytes
  by_name INTEGER NOT NULL,         -- 1: one value per name of the chunk's events; 0: one per event
  count INTEGER NOT NULL,           -- number of values
  columns BLOB NOT NULL,            -- which events or names, and their values
  PRIMARY KEY (event_chunk_id, key_id, type, by_name)
) WITHOUT ROWID;

-- Chunks of values of one counter track, sorted by time.
CREATE TABLE counter_chunk (
  id INTEGER PRIMARY KEY,           -- unique number
  track_id INTEGER NOT NULL,        -- ref track, of kind counter
  count INTEGER NOT NULL,           -- number of values
  min_ts_ns INTEGER NOT NULL,       -- first value
  max_ts_ns INTEGER NOT NULL,       -- last value
  columns BLOB NOT NULL             -- time, value
);

-- Training steps. A step ends with the execution that a step mark caused.
-- @fact
CREATE TABLE step (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- 0 for the first step that any source saw of this process
  number INTEGER,                   -- the user's step_num; NULL: no source says
  name TEXT,                        -- such as train; NULL: unknown
  ts_ns INTEGER,                    -- start; NULL: outside every window
  dur_ns INTEGER                    -- length; NULL: outside every window
);

-- Graphs, one row for each way in which a graph was printed. Rows with the same hash are the same graph.
-- @fact
-- @outlives_run
CREATE TABLE graph (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  hash TEXT,                        -- the lazy graph's hash, lower-case hex; NULL: the source does not know it
  name TEXT,                        -- module name or torch_xla.compile name; NULL: has none
  program_id INTEGER,               -- XLA's number of the program, 64 bits as signed; NULL: unknown
  node_count INTEGER,               -- nodes; NULL: not printed
  input_count INTEGER,              -- parameters of the program; NULL: unknown
  output_count INTEGER,             -- results; NULL: unknown
  printed_as TEXT,                  -- word of printed_form; NULL: known by hash only
  number TEXT                       -- torch.compile's number of the program, such as 0/1; NULL: it has none
);

-- Nodes of a printed graph.
-- @fact
CREATE TABLE graph_node (
  graph_id INTEGER NOT NULL,        -- ref graph
  idx INTEGER NOT NULL,             -- 0 for the first printed; entry computation last in HLO
  op TEXT NOT NULL,                 -- aten::mul, xla::device_data, HLO opcode
  shape TEXT NOT NULL,              -- XLA shape text, layout included when printed
  operands TEXT NOT NULL,           -- idx of each operand, with .k for its k-th result: "6,5.1,4"; "" for none
  attributes TEXT,                  -- what else was printed, canonical "k=v, k=v"; literals too; NULL: none
  scope TEXT,                       -- user scope, train.1/fwd.1; NULL: none
  location TEXT,                    -- function@file:line or file:line as printed; NULL: none
  root INTEGER,                     -- index among the results; NULL: not a result
  name TEXT,                        -- printed name without % (dot.16 or 7); NULL: none
  computation TEXT,                 -- HLO computation it is in; NULL: entry
  framework_op TEXT,                -- op of the framework that an HLO instruction is part of, aten::mul; NULL: not printed
  PRIMARY KEY (graph_id, idx)
) WITHOUT ROWID;

-- Python (or C++) call stacks.
CREATE TABLE stack (
  id INTEGER PRIMARY KEY,           -- unique number
  hash TEXT NOT NULL UNIQUE         -- hash of the frames, so that equal stacks are one row
);

-- Frames of a stack, innermost first.
CREATE TABLE frame (
  stack_id INTEGER NOT NULL,        -- ref stack
  depth INTEGER NOT NULL,           -- 0: innermost
  function TEXT,                    -- NULL: unknown
  file TEXT,                        -- as printed; NULL: unknown
  line INTEGER,                     -- from 1; NULL: unknown
  owner TEXT,                       -- word of code_owner: whose code it is; NULL: not known
  PRIMARY KEY (stack_id, depth)
) WITHOUT ROWID;

-- Places in the user's code that cut a graph, read a value or used an op: the innermost user frame.
CREATE TABLE site (
  id INTEGER PRIMARY KEY,           -- unique number
  function TEXT,                    -- NULL: unknown
  file TEXT,                        -- as printed; NULL: unknown
  line INTEGER,                     -- from 1; NULL: unknown
  UNIQUE (function, file, line)
);

-- Compilations of graphs.
-- @fact
CREATE TABLE compile (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order among the process's facts
  graph_id INTEGER,                 -- ref graph; NULL: unknown
  ts_ns INTEGER,                    -- start
  dur_ns INTEGER,                   -- length
  trace_ns INTEGER,                 -- tracing and lowering on the host before it, not in dur_ns; NULL: not known
  dur_from TEXT,                    -- word of time_source; NULL with dur_ns
  cause TEXT,                       -- word of cut_kind; NULL: unknown
  function TEXT,                    -- jitted function or torch_xla.compile name; NULL: none
  site_id INTEGER,                  -- ref site
  stack_id INTEGER,                 -- ref stack
  step_id INTEGER,                  -- ref step
  track_id INTEGER,                 -- ref track: where it is drawn
  input_bytes INTEGER,              -- bytes of the program's inputs
  output_bytes INTEGER,             -- bytes of the program's outputs
  alias_bytes INTEGER,              -- bytes of inputs that share memory with outputs (donated)
  temp_bytes INTEGER,               -- bytes of intermediates
  program_bytes INTEGER,            -- bytes of the executable itself
  persistent_hit INTEGER,           -- 1: loaded from the persistent cache; 0: not found there; NULL: no source says
  inferred INTEGER NOT NULL         -- 1: not reported as such, but the first time that this graph was seen
);

-- Reasons why a program was compiled, if the source itself states them (jax_explain_cache_misses,
-- TORCH_TRACE). The source compares the program with the most similar one that it had compiled.
-- @fact
CREATE TABLE compile_reason (
  compile_id INTEGER NOT NULL,      -- ref compile
  idx INTEGER NOT NULL,             -- from 0, in the order in which the source gives them
  stated_by TEXT NOT NULL,          -- word of stated_by
  type TEXT NOT NULL,               -- word of reason_type; unknown: the source gives it in words only
  input TEXT,                       -- the input or setting that differs; NULL: none is named
  before TEXT,                      -- its value before; NULL: not given
  after TEXT,                       -- its value now (redefined_function: the definition that makes the object); NULL: not given
  of_class TEXT,                    -- the class in the input whose static fields `before` and `after` are; NULL: they are something else
  text TEXT NOT NULL,               -- the source's own words
  site_id INTEGER,                  -- ref site: the line that makes it part of the program; NULL: none is named
  is_dynamic INTEGER,               -- 1: the new program takes other values of it, too; NULL: not known
  PRIMARY KEY (compile_id, idx)
) WITHOUT ROWID;

-- The parts of a compilation whose source divides it. They do not overlap, and dur_ns of the compile is their sum.
-- @fact
CREATE TABLE compile_phase (
  compile_id INTEGER NOT NULL,      -- ref compile
  phase TEXT NOT NULL,              -- word of compile_phase
  dur_ns INTEGER NOT NULL,          -- length
  PRIMARY KEY (compile_id, phase)
) WITHOUT ROWID;

-- Compilations that failed. The function then ran without being compiled, or an error was raised.
-- @fact
CREATE TABLE compile_failure (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order in its source
  function TEXT,                    -- the function that was being compiled; NULL: unknown
  site_id INTEGER,                  -- ref site: where the function is, or the user's line that calls it
  stack_id INTEGER,                 -- ref stack
  failed_site_id INTEGER,           -- ref site: the line that could not be compiled; NULL: none is named
  ts_ns INTEGER,                    -- start
  dur_ns INTEGER,                   -- length, until it failed
  error TEXT,                       -- name of the exception, such as BackendCompilerFailed; NULL: not printed
  type TEXT NOT NULL,               -- word of reason_type; unknown: neither the exception nor its message tells
  reason TEXT,                      -- what failed, in one line, as printed; NULL: not printed
  hint TEXT,                        -- PyTorch's advice, as printed; NULL: none
  text TEXT                         -- its message, at most 1,000 bytes; NULL: not printed
);

-- Places at which torch.compile ended a graph, because it cannot trace what follows. Each compilation of the function
-- meets its places again.
-- @fact
CREATE TABLE graph_break (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order in its source
  function TEXT,                    -- the function that was being compiled; NULL: unknown
  site_id INTEGER,                  -- ref site: the line that ended the graph; NULL: unknown
  stack_id INTEGER,                 -- ref stack: how the program came to the line; NULL: unknown
  code TEXT,                        -- PyTorch's number of the reason, such as gb0124; NULL: not printed
  type TEXT NOT NULL,               -- word of reason_type: value_access, data_dependent_branch or untraceable
  reason TEXT NOT NULL,             -- what cannot be traced, as printed, at most 1,000 bytes
  hint TEXT                         -- PyTorch's advice, as printed, at most 1,000 bytes; NULL: none
);

-- Answers of caches of compiled programs.
-- @fact
CREATE TABLE cache_lookup (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order in its source
  compile_id INTEGER,               -- ref compile: the compilation that asked; NULL: no source says
  cache TEXT NOT NULL,              -- word of program_cache
  result TEXT NOT NULL,             -- word of cache_result
  program TEXT,                     -- name of the program; NULL: not printed
  key TEXT,                         -- key of the program in the cache; NULL: not printed
  saved_ns INTEGER,                 -- compile time that the hit saved, as the source says; NULL: not printed
  is_stored INTEGER,                -- 1: the program was written to the cache; 0: it was not; NULL: it is a hit, or no source says
  not_stored TEXT,                  -- word of not_stored; NULL: it is stored, or no source says
  least_ns INTEGER                  -- compile time from which on programs are written; NULL: not printed
);

-- Executions of graphs on a device.
-- @fact
CREATE TABLE execution (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order among the process's facts
  graph_id INTEGER,                 -- ref graph; NULL: unknown
  enqueue_ts_ns INTEGER,            -- when the host asked for it
  ts_ns INTEGER,                    -- when the device began it
  dur_ns INTEGER,                   -- length, until the device ended it
  host_wait_ns INTEGER,             -- how long the asking thread was blocked for it
  device TEXT,                      -- such as TPU:0
  cause TEXT,                       -- word of cut_kind; NULL: unknown
  site_id INTEGER,                  -- ref site
  stack_id INTEGER,                 -- ref stack
  step_id INTEGER,                  -- ref step
  scope TEXT,                       -- innermost user scope open on the host at enqueue, outer/inner; NULL: none or unknown
  track_id INTEGER                  -- ref track of the host thread that asked for it
);

-- Copies between host and device.
-- @fact
CREATE TABLE transfer (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order among the process's facts
  direction TEXT NOT NULL,          -- word of direction
  bytes INTEGER,                    -- size
  ts_ns INTEGER,                    -- start
  dur_ns INTEGER,                   -- as the host saw it, waiting included
  device TEXT,                      -- such as TPU:0
  site_id INTEGER,                  -- ref site
  step_id INTEGER,                  -- ref step
  scope TEXT,                       -- innermost user scope on the host, outer/inner
  track_id INTEGER                  -- ref track of the host thread
);

-- Ops that ran on the CPU because the backend has no lowering for them. Reads of numbers (aten::_local_scalar_dense)
-- are included.
-- @fact
CREATE TABLE fallback (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER,                  -- order among the process's facts; NULL: a cumulative count
  op TEXT,                          -- aten::nonzero; NULL: call site known, op not
  count INTEGER NOT NULL,           -- calls
  site_id INTEGER,                  -- ref site
  stack_id INTEGER,                 -- ref stack
  step_id INTEGER                   -- ref step
);

-- Parameters of a model that were one tensor, and became copies of it when the model was moved to a device.
-- @fact
CREATE TABLE untied_weight (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order among the process's facts
  names TEXT NOT NULL,              -- names of the parameters in the model, separated by ", ": encoder.weight, decoder.weight
  copies INTEGER NOT NULL,          -- number of these parameters
  bytes INTEGER NOT NULL,           -- size of each
  device TEXT,                      -- device to which they were moved, such as CPU:0
  site_id INTEGER                   -- ref site: the line that moved the model
);

-- Loaders that have dealt all their batches to devices. A program makes one for each epoch.
-- @fact
CREATE TABLE loader_epoch (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order among the process's facts
  devices INTEGER NOT NULL,         -- number of devices, each of which gets a batch in each round
  batches INTEGER NOT NULL,         -- batches that the program read
  dropped INTEGER NOT NULL,         -- of these, the last ones, which did not suffice for all devices
  site_id INTEGER                   -- ref site: the line that made the loader
);

-- Python stacks of threads, which `xlaprof run` sampled. A sample stands for the time until the next one.
-- @fact
CREATE TABLE host_sample (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  track_id INTEGER NOT NULL,        -- ref track, of kind samples
  ts_ns INTEGER NOT NULL,           -- when the stack was looked at
  dur_ns INTEGER NOT NULL,          -- until the thread's next sample, or for as long as the sampler meant to wait
  stack_id INTEGER NOT NULL         -- ref stack
);

-- Python processes that `xlaprof run` recorded.
-- @fact
CREATE TABLE observed_process (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  command TEXT NOT NULL,            -- its words, separated by spaces
  ts_ns INTEGER NOT NULL,           -- when Python started
  dur_ns INTEGER NOT NULL,          -- until its last sign of life
  ended INTEGER NOT NULL,           -- 1: the program came to its end; 0: it was killed, or still runs
  steps INTEGER,                    -- steps that it ended; NULL: its framework counts none
  step_unit TEXT,                   -- word of step_unit; NULL with steps
  cpu_ns INTEGER,                   -- CPU time of the process; NULL: it ended before it was read
  own_cpu_ns INTEGER,               -- the part that recording it took, without the frameworks' own logs; NULL with cpu_ns
  profile_moment TEXT,              -- word of profile_moment; NULL: no profile was taken
  profile_ts_ns INTEGER,            -- start of the profile
  profile_dur_ns INTEGER,           -- its length
  profile_first_step INTEGER,       -- steps that had ended when it began; NULL: unknown
  profile_end_step INTEGER,         -- steps that had ended when it ended; NULL: unknown
  profile_error TEXT,               -- why the profile is missing; NULL: it is not
  problem TEXT                      -- the first thing that could not be recorded; NULL: none
);

-- How far a process that `xlaprof run` recorded was, whenever its steps and compilations were counted.
-- @fact
CREATE TABLE observed_progress (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ts_ns INTEGER NOT NULL,           -- when they were counted
  steps INTEGER NOT NULL,           -- steps that had ended
  compiles INTEGER NOT NULL         -- compilations that had ended
);

-- Compilations of a process that `xlaprof run` recorded, as its framework timed them. It does not say of which programs.
-- @fact
CREATE TABLE observed_compile (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order among all that the process timed, from 0
  ts_ns INTEGER NOT NULL,           -- start
  dur_ns INTEGER NOT NULL           -- length
);

-- Findings of torch_xla's own step-time analysis (the pt-xla-profiler lines), as printed.
-- @fact
CREATE TABLE profiler_line (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order in its source
  rule TEXT NOT NULL,               -- word of profiler_rule
  samples INTEGER,                  -- N of "N counts during M steps"; NULL: not printed
  steps INTEGER,                    -- M of "during M steps"; NULL: not printed
  text TEXT NOT NULL                -- the line
);

-- Slow operations that XLA's own alarms reported, at any log level: compilations of over two minutes, constants that
-- XLA computed for over a second, and kernels that it tried for long. Of the operations that are too slow, XLA reports
-- only the 1st, 2nd, 4th, 8th …
-- @fact
CREATE TABLE compile_alarm (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order in its source
  operation TEXT NOT NULL,          -- word of alarm_kind
  subject TEXT,                     -- the module without its number, the instruction or the algorithm; NULL: not printed
  op TEXT,                          -- the instruction's op; NULL: none, or not printed
  shape TEXT,                       -- shape of the instruction's result; NULL: none, or not printed
  scope TEXT,                       -- the instruction's user scope; NULL: none, or not printed
  site_id INTEGER,                  -- ref site: the user's line that made the instruction; NULL: not printed
  least_ns INTEGER,                 -- time after which the alarm fired, so it took longer than this; NULL: not printed
  dur_ns INTEGER,                   -- how long it took; NULL: the log does not show its end
  text TEXT NOT NULL                -- the module with its number, the instruction or what was tried, as printed; at most 1,000 bytes
);

-- Recompilations that torch.compile reports (torch._dynamo) without their times: each of them with TORCH_LOGS=recompiles, and
-- without it those that a function had when it reached its limit. From then on, new inputs run without being compiled.
-- @fact
CREATE TABLE dynamo_recompile (
  id INTEGER PRIMARY KEY,           -- unique number
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- order in its source
  function TEXT NOT NULL,           -- the function that is compiled
  site_id INTEGER,                  -- ref site: where it is defined; NULL: not printed
  programs INTEGER,                 -- the limit of programs that was reached; NULL: the line reports one recompilation
  earlier INTEGER,                  -- programs that the function had before, from an id such as [3/36]; NULL: not printed
  reason TEXT                       -- the check that failed, as printed, at most 1,000 bytes; NULL: not printed
);

-- Reports of the metrics registry, in the order in which they were written.
-- @fact
CREATE TABLE metrics_report (
  id INTEGER PRIMARY KEY,           -- unique number
  source_id INTEGER NOT NULL,       -- ref source
  process_id INTEGER,               -- ref process
  ordinal INTEGER NOT NULL,         -- 0 for the first in this source and run
  save_number INTEGER,              -- N of [MetricsData; step=N]: counts saves, not steps; NULL: no header
  mark_step INTEGER                 -- value of the MarkStep counter in it; NULL: not in it
);

-- Metrics, cumulative since the start of the process (or since they were last cleared). The first and the last complete
-- report of a process have rows for all metrics. A report between them has rows only for metrics that changed since the
-- previous report, and from the 201st report on only for those that analyzers use. A value therefore holds until the
-- next row with its name. The same is true of table counter.
-- @fact
CREATE TABLE metric (
  id INTEGER PRIMARY KEY,           -- unique number
  report_id INTEGER NOT NULL,       -- ref metrics_report
  name TEXT NOT NULL,               -- CompileTime
  unit TEXT,                        -- word of metric_unit; NULL: the accumulator is not known
  samples INTEGER,                  -- number of values: TotalSamples
  accumulator REAL,                 -- sum of all values, in unit; decoded exactly (ns and bytes are whole numbers); NULL: cut off
  value_rate REAL,                  -- unit per second over the recent values; NULL: not printed
  rate REAL,                        -- values per second over the recent values; NULL: not printed
  text TEXT NOT NULL                -- the accumulator as printed
);

-- Percentiles of the recent values of a metric, in the last complete report of a process.
-- @fact
CREATE TABLE metric_percentile (
  metric_id INTEGER NOT NULL,       -- ref metric
  p REAL NOT NULL,                  -- 0 to 100
  value REAL NOT NULL,              -- in the metric's unit
  PRIMARY KEY (metric_id, p)
) WITHOUT ROWID;

-- Counters of a metrics report. The description of table metric says for which counters a report has rows.
-- @fact
CREATE TABLE counter (
  report_id INTEGER NOT NULL,       -- ref metrics_report
  name TEXT NOT NULL,               -- aten::nonzero
  value INTEGER NOT NULL,           -- cumulative
  PRIMARY KEY (report_id, name)
) WITHOUT ROWID;

-- Settings of the run that slow it down and that a source reveals.
-- @fact
CREATE TABLE setting (
  process_id INTEGER,               -- ref process
  name TEXT NOT NULL,               -- word of setting_name
  value TEXT NOT NULL,              -- as found
  evidence TEXT NOT NULL            -- what shows it
);

-- The file that reported a fact, and the position in it.
CREATE TABLE provenance (
  table_name TEXT NOT NULL,         -- compile, execution, ...
  row_id INTEGER NOT NULL,          -- its id
  source_id INTEGER NOT NULL,       -- ref source
  offset INTEGER,                   -- byte in the (decompressed) source; NULL: does not apply
  line INTEGER,                     -- line, from 1; NULL: a binary format
  ordinal INTEGER,                  -- the fact's ordinal in that source
  PRIMARY KEY (table_name, row_id, source_id)
) WITHOUT ROWID;

-- The findings of the analyzers, so that a file can be reopened and compared without running them again.
CREATE TABLE finding (
  id INTEGER PRIMARY KEY,           -- rank: 1 is the first of the report
  fingerprint TEXT NOT NULL,        -- stable between runs of the same program
  kind TEXT NOT NULL,               -- recompilation, fallback, ...
  severity TEXT NOT NULL,           -- word of severity
  title TEXT NOT NULL,              -- one line
  count INTEGER,                    -- how often; NULL: does not apply
  cost_ns INTEGER,                  -- measured; NULL: unmeasured
  json TEXT NOT NULL                -- the whole finding, as report --format json prints it
);

CREATE INDEX event_chunk_by_track ON event_chunk (track_id, min_ts_ns);
CREATE INDEX counter_chunk_by_track ON counter_chunk (track_id, min_ts_ns);
CREATE INDEX graph_by_hash ON graph (hash, process_id);
CREATE INDEX track_by_process ON track (process_id);
CREATE INDEX step_by_process ON step (process_id);
CREATE INDEX compile_by_ordinal ON compile (process_id, ordinal);
CREATE INDEX execution_by_ordinal ON execution (process_id, ordinal);
