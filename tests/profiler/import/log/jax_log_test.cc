// Tests logs of JAX in the wordings of several versions: what compiled, how long it took, and why.
#include <gmock/gmock.h>

#include "profiler/import/formats.h"
#include "profiler/import/jax/jax_log_line.h"
#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Dialect jax_log;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kCompiles =
    "SELECT function, dur_ns, trace_ns, persistent_hit, inferred FROM compile ORDER BY ordinal";
constexpr const char* kReasons =
    "SELECT c.function, r.type, r.input, r.before, r.after FROM compile_reason r JOIN compile c ON "
    "c.id = r.compile_id ORDER BY c.ordinal, idx";

// Returns what current versions print for a call that finds no compiled program.
std::string Compile(const std::string& function, const std::string& types,
                    const std::string& prefix = "") {
  return prefix + "Finished tracing " + function + " for jit in 0.250000000 sec\n" + prefix +
         "Compiling jit(" + function + ") with global shapes and types " + types +
         ". Argument mapping: (UnspecifiedValue,).\n" + prefix +
         "Finished jaxpr to MLIR module conversion jit(" + function + ") in 0.125000000 sec\n" +
         prefix + "Finished XLA compilation of jit(" + function + ") in 2.000000000 sec\n";
}

// Regression: all primitives are defined on one line of JAX's, so each loop outside of jit was called
// a function that is defined anew there. A module's function is not defined anew either.
TEST(JaxLog, OnlyLambdasAndInnerFunctionsAreMadeWhereTheyAreDefined) {
  auto redefined = [](const std::string& function, const std::string& place) {
    return "TRACING CACHE MISS at /x/a.py:27 (main):\n  never seen function:\n    " + function +
           " id=1 defined at " + place +
           "\n  but seen another function defined on the same line; maybe the function is\n"
           "  being re-defined repeatedly, preventing caching?\n" +
           Compile(function.substr(function.rfind('.') + 1), "(ShapedArray(float32[8]),)");
  };
  const std::string kJax = "/p/site-packages/jax/_src/dispatch.py:94";
  auto in = ImportText(jax_log, redefined("scan", kJax) + redefined("cost", "/x/solver.py:13") +
                                    redefined("make.<locals>.loop", "/x/solver.py:30"));
  EXPECT_THAT(in.Rows("SELECT cause FROM compile"), ElementsAre("operation", "call", "call"));
  EXPECT_THAT(in.Rows(kReasons),
              ElementsAre("cost|redefined_function|/x/solver.py:13|-|-",
                          "loop|redefined_function|/x/solver.py:30|-|/x/solver.py:30"));
}

// JAX 0.12 says no more about a call with another static argument.
TEST(JaxLog, AnExplanationThatIsMissingIsNoUnknownCause) {
  auto in = ImportText(
      jax_log,
      "TRACING CACHE MISS at /x/a.py:16:4 (<module>):\n  for power defined at /x/a.py:5\n"
      "  all previously seen cache keys differ. For the closest previous key:\n"
      "  cache miss explanation unavailable\n" +
          Compile("power", "(ShapedArray(float32[8]),)"));
  EXPECT_THAT(in.Rows(kReasons), ElementsAre("power|unprinted_change|-|-|-"));
}

TEST(JaxLog, ReadsACompilation) {
  auto in = ImportText(jax_log, Compile("step",
                                        "(ShapedArray(float32[8,16]), ShapedArray(int32[], "
                                        "weak_type=True))"));
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("step|2000000000|375000000|-|0"));
  EXPECT_THAT(in.Rows("SELECT cause, dur_from FROM compile"), ElementsAre("call|log"));
  EXPECT_THAT(in.Rows("SELECT name, input_count, printed_as FROM graph"),
              ElementsAre("step|2|signature"));
  EXPECT_THAT(in.Rows("SELECT idx, op, shape, attributes FROM graph_node"),
              ElementsAre("0|parameter|f32[8,16]|-", "1|parameter|i32[]|weak_type=True"));
}

TEST(JaxLog, ReadsTheWordsOfOlderVersions) {
  auto line = ParseJaxLogLine(
      "WARNING:jax._src.dispatch:Finished tracing + transforming f for pjit in 0.5 sec");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->function, "f");
  EXPECT_EQ(line->dur_ns, 500'000'000);
  EXPECT_EQ(line->begin, 26u);
  line = ParseJaxLogLine("Compiling f (140378206182176) for args (ShapedArray(float32[3]),).");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->function, "f");
  EXPECT_EQ(line->inputs, "(ShapedArray(float32[3]),)");
  line = ParseJaxLogLine("Compiling f (140378206182176 for args (ShapedArray(float32[3]),).");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->function, "f");
  line = ParseJaxLogLine("Compiling f (1403) for 900 args.");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->input_count, 900);
  line = ParseJaxLogLine(
      "Compiling <unnamed function> for with global shapes and types [ShapedArray(bool[2])].");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->function, "<unnamed function>");
  line = ParseJaxLogLine("Compiling g (12) for 8 devices with args (ShapedArray(float32[3]),).");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->function, "g");
  for (const char* other : {"Compiling the report", "Finished tracing",
                            "Finished XLA compilation "
                            "of f",
                            "Compiling (3) for args", ""})
    EXPECT_FALSE(ParseJaxLogLine(other)) << other;
}

TEST(JaxLog, TypesKeepTheirBrackets) {
  std::vector<JaxInput> inputs =
      ParseJaxInputs("(ShapedArray(bfloat16[8@data,4]), ShapedArray(key<fry>[]), AbstractToken())");
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].shape, "bf16[8@data,4]");
  EXPECT_EQ(inputs[1].shape, "key<fry>[]");
  EXPECT_EQ(inputs[2].shape, "AbstractToken()");
  EXPECT_THAT(ParseJaxInputs("(ShapedArray(float32["), testing::SizeIs(1));
}

TEST(JaxLog, KeepsHowInputsAreSharded) {
  for (const char* mapping :
       {"(NamedSharding(mesh=Mesh('data': 4, axis_types=(Auto,)), spec=PartitionSpec('data',), "
        "memory_kind=device), UnspecifiedValue)",
        "[NamedSharding(mesh=Mesh('data': 4), spec=P('data',)), UnspecifiedValue]"}) {
    auto in = ImportText(jax_log, fmt::format("Compiling jit(f) with global shapes and types "
                                              "(ShapedArray(float32[8]), ShapedArray(int32[])). "
                                              "Argument mapping: {}.\n",
                                              mapping));
    EXPECT_THAT(in.Rows("SELECT shape, attributes FROM graph_node"),
                ElementsAre("f32[8]|sharding=P('data',)", "i32[]|-"));
  }
  std::vector<JaxInput> inputs(1);
  AddJaxShardings("(GSPMDSharding({devices=[4,1]<=[4]}))", &inputs);
  EXPECT_EQ(inputs[0].attributes, "sharding={devices=[4,1]<=[4]}");
}

TEST(JaxLog, SaysWhichInputChanged) {
  std::string log =
      "TRACING CACHE MISS at /x/train.py:39:23 (main):\n"
      "  for step defined at /x/train.py:14\n"
      "  all previously seen cache keys differ. For the closest previous key:\n"
      "  different input types:\n"
      "  * at x, now f32[7,16] and before f32[8,16]\n"
      "  * at s, now f32[]{weak_type=False} and before f32[]{weak_type=True}"
      "https://docs.jax.dev/x\n" +
      Compile("step", "(ShapedArray(float32[7,16]),)");
  auto in = ImportText(jax_log, log);
  EXPECT_THAT(in.Rows(kReasons),
              ElementsAre("step|shape_change|x|f32[8,16]|f32[7,16]",
                          "step|dtype_change|s|f32[]{weak_type=True}|f32[]{weak_type=False}"));
  EXPECT_THAT(in.Rows("SELECT s.function, s.file, s.line FROM compile JOIN site s ON s.id = "
                      "site_id"),
              ElementsAre("main|/x/train.py|39"));
}

TEST(JaxLog, ReadsExplanationsOfOlderVersions) {
  std::string log =  // first 0.4.30, then 0.7
      "TRACING CACHE MISS at /x/a.py:5 (main) because:\n"
      "  for f defined at /x/a.py:2\n"
      "  never seen input type signature:\n    x: f32[3]\n"
      "  closest seen input type signature has 1 mismatches, including:\n"
      "    * at x, seen f32[2], but now given f32[3]\n" +
      Compile("f", "(ShapedArray(float32[3]),)") +
      "TRACING CACHE MISS at /x/a.py:6:4 (main) costing 12.500 ms because:\n"
      "  for g defined at /x/a.py:3\n"
      "  all previously seen cache keys are different. Closest previous key:\n"
      "  * key with different value of static args:\n      now 1 and before 0\n" +
      Compile("g", "(ShapedArray(float32[3]),)");
  auto in = ImportText(jax_log, log);
  EXPECT_THAT(in.Rows(kReasons), ElementsAre("f|shape_change|x|f32[2]|f32[3]",
                                             "g|constant_change|static argument|0|1"));
}

TEST(JaxLog, ToldStaticArgumentsSettingsAndStructures) {
  auto miss = [](const std::string& function, const std::string& why) {
    return "TRACING CACHE MISS at /x/a.py:5:1 (main):\n  for " + function +
           " defined at /x/a.py:2\n  all previously seen cache keys differ. For the closest "
           "previous key:\n" +
           why + Compile(function, "(ShapedArray(float32[3]),)");
  };
  std::string log =
      miss("power",
           "  different input pytree:\n  * at input path [0][1], now <class "
           "'jax._src.tree_util.Static'> with pytree metadata Static(val=(1, 2)) and before <class "
           "'jax._src.tree_util.Static'> with pytree metadata Static(val=0), so the pytree node "
           "metadata does not match\n") +
      miss(
          "train",
          "  different input pytree:\n  * at input path [0][0], now <class 'state.TrainState'> with "
          "pytree metadata (1,) and before <class 'state.TrainState'> with pytree metadata (0,), so "
          "the pytree node metadata does not match\n") +
      miss(
          "other",
          "  different input pytree:\n  * at input path [0][0], now <class 'state.A'> with pytree "
          "metadata (1,) and before <class 'state.B'> with pytree metadata (0,), so the pytree node "
          "types do not match\n") +
      miss("grow",
           "  different input pytree:\n  * at input path [1]['state'], now None and before "
           "*, so they are different\n") +
      miss("mult",
           "  Tracing context doesn't match, e.g. due to config or context manager.\n"
           "  * jax_default_matmul_precision differs: now float32 and before None\n") +
      miss("old",
           "  tracing context doesn't match, e.g. due to config or context manager\n"
           "  closest seen context tuple differs at positions:\n    3\n");
  const auto in = ImportText(jax_log, log);
  EXPECT_THAT(in.Rows("SELECT DISTINCT stated_by FROM compile_reason"),
              ElementsAre("jax_explanation"));
  EXPECT_THAT(in.Rows("SELECT of_class FROM compile_reason WHERE of_class IS NOT NULL"),
              ElementsAre("state.TrainState"));
  EXPECT_THAT(in.Rows(kReasons),
              ElementsAre("power|constant_change|static argument 1|0|(1, 2)",
                          "train|input_structure_change|argument 0|(0,)|(1,)",
                          "other|input_structure_change|argument 0|<class 'state.B'> with pytree "
                          "metadata (0,)|<class 'state.A'> with pytree metadata (1,)",
                          "grow|input_structure_change|argument state|*|None",
                          "mult|environment_change|jax_default_matmul_precision|None|float32",
                          "old|environment_change|-|-|-"));
}

// JAX 0.6 and 0.7 reported several differences from the closest keys in this form.
TEST(JaxLog, SeveralClosestKeys) {
  std::string log =
      "TRACING CACHE MISS at /x/a.py:8:2 (main) costing 1.500 ms because:\n"
      "  for f defined at /x/a.py:2\n"
      "  all previously seen cache keys are different. Several previous keys are closest:\n"
      "  * key with different input types:\n"
      "      types now: x: f32[8]\n"
      "        * at x, now f32[8] and before f32[4]\n"
      "  * key with different tracing context, e.g. due to config or context manager.\n"
      "    found differences at positions\n"
      "      [6]: now raise and before warn\n"
      "    compare to tuple returned by config.trace_context() in jax/_src/config.py.\n"
      "  * key with different number of args and kwargs, but same total number.\n"
      "      now 2 args and kwargs with keys ()\n" +
      Compile("f", "(ShapedArray(float32[8]),)");
  EXPECT_THAT(
      ImportText(jax_log, log).Rows(kReasons),
      ElementsAre("f|shape_change|x|f32[4]|f32[8]", "f|environment_change|position 6|warn|raise"));
  // A collector puts a prefix before every line.
  std::string prefixed;
  for (size_t at = 0; at < log.size();) {
    const size_t end = log.find('\n', at);
    prefixed += "2026-03-02T10:11:12Z [pod/train-0/main] " + log.substr(at, end + 1 - at);
    at = end + 1;
  }
  EXPECT_THAT(
      ImportText(jax_log, prefixed).Rows(kReasons),
      ElementsAre("f|shape_change|x|f32[4]|f32[8]", "f|environment_change|position 6|warn|raise"));
}

TEST(JaxLog, AFunctionThatIsDefinedAnew) {
  auto miss = [](int id, bool hint) {
    return fmt::format(
               "TRACING CACHE MISS at /x/a.py:21:11 (loop):\n  never seen function:\n    <lambda> "
               "id={} defined at /x/a.py:20\n{}",
               id,
               hint
                   ? "  but seen another function defined on the same line; maybe the function is\n"
                     "  being re-defined repeatedly, preventing caching?\n"
                   : "") +
           Compile("<lambda>", "(ShapedArray(float32[3]),)");
  };
  auto in = ImportText(jax_log, miss(1, false) + miss(2, true) + miss(3, true));
  EXPECT_THAT(in.Rows(kReasons),
              ElementsAre("<lambda>|redefined_function|/x/a.py:20|-|/x/a.py:20",
                          "<lambda>|redefined_function|/x/a.py:20|-|/x/a.py:20"));
}

// Two rounds in which JAX sees the same objects as new.
TEST(JaxLog, TheSameFunctionsAreNewAgainIfCachesWereCleared) {
  const auto rounds = [](const std::vector<std::string>& functions, bool same_ids) {
    std::string log = Compile("init", "(ShapedArray(float32[3]),)");
    for (const int round : {1, 2}) {
      for (const std::string& function : functions) {
        const std::string name = function.substr(0, function.find(' '));
        log += fmt::format(
                   "TRACING CACHE MISS at /x/a.py:21:11 (loop):\n  never seen function:\n    {} "
                   "id={} defined at {}\n",
                   name, same_ids ? 7 : round, function.substr(name.size() + 1)) +
               Compile(name, "(ShapedArray(float32[3]),)");
      }
    }
    return log;
  };
  const std::string step = "step /x/net.py:25", evaluate = "evaluate /x/net.py:32",
                    library = "mean /p/site-packages/optax/tree.py:4";
  EXPECT_THAT(ImportText(jax_log, rounds({step, evaluate}, true)).Rows(kReasons),
              ElementsAre("step|cache_eviction|-|-|-", "evaluate|cache_eviction|-|-|-"));
  EXPECT_THAT(ImportText(jax_log, rounds({step, library}, true)).Rows(kReasons),
              ElementsAre("step|cache_eviction|-|-|-", "mean|cache_eviction|-|-|-"));
  // One function may be at the place of an old one by chance, and other ids are other objects.
  EXPECT_THAT(ImportText(jax_log, rounds({step}, true)).Rows(kReasons),
              ElementsAre("step|redefined_function|/x/net.py:25|-|-"));
  EXPECT_THAT(ImportText(jax_log, rounds({step, evaluate}, false)).Rows(kReasons),
              ElementsAre("step|redefined_function|/x/net.py:25|-|-",
                          "evaluate|redefined_function|/x/net.py:32|-|-"));
}

TEST(JaxLog, ExplanationsAlone) {
  auto miss = [](int second) {
    return fmt::format(
        "WARNING:2026-11-21 18:30:{},885:jax._src.pe:40: TRACING CACHE MISS at /x/a.py:5:1 (main):\n"
        "  never seen function:\n    f id=1 defined at /x/a.py:2\n",
        second);
  };
  auto in = ImportText(jax_log, miss(39) + "step 1\n" + miss(40));
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("f|-|-|-|1", "f|-|-|-|1"));
}

TEST(JaxLog, PersistentCache) {
  std::string log = Compile("f", "(ShapedArray(float32[3]),)");
  const std::string end = "Finished XLA";
  log.insert(log.find(end), "Persistent compilation cache hit for 'jit_f' with key 'jit_f-1bac'\n");
  std::string miss = Compile("g", "(ShapedArray(float32[3]),)");
  miss.insert(miss.find(end), "PERSISTENT COMPILATION CACHE MISS for 'jit_g' with key 'jit_g-2'\n");
  EXPECT_THAT(ImportText(jax_log, log + miss).Rows("SELECT function, persistent_hit FROM compile"),
              ElementsAre("f|1", "g|0"));
}

// Only the compiler's logger has a custom formatter. A key that comes again belongs to another run.
TEST(JaxLog, ThePersistentCacheAlone) {
  auto line = [](const std::string& what, const std::string& name, const std::string& key) {
    return fmt::format("2024-07-02 11:56:03,008 - DEBUG - {} for 'jit_{}' with key 'jit_{}-{}'\n",
                       what, name, name, key);
  };
  const std::string miss = "PERSISTENT COMPILATION CACHE MISS",
                    hit = "Persistent compilation cache hit";
  const std::string log =
      line(miss, "f", "1a") + line(miss, "g", "2b") + line(hit, "g", "2b") + line(miss, "g", "3c");
  EXPECT_EQ(RecognisedDialect(log), &jax_log);
  EXPECT_EQ(RecognisedDialect(line(hit, "f", "1a")), &jax_log);
  EXPECT_THAT(ImportText(jax_log, log).Rows(kCompiles),
              ElementsAre("f|-|-|0|1", "g|-|-|0|1", "g|-|-|0|1"));
}

// Until 2021 only these lines were printed, and the types were not always arrays.
TEST(JaxLog, StartsOfCompilationsAlone) {
  const std::string unit = "WARNING:absl:Compiling f for args (AbstractUnit(), AbstractUnit()).\n";
  const std::string devices =
      "WARNING:absl:Compiling g (140) for 8 devices with args (AbstractToken(),).\n";
  const std::string spec =
      "WARNING:absl:Compiling h for args (ArgSpec(aval=ShapedArray(uint32[2]), "
      "lazy_expr=LazyExpr(input=ArrayVar(), shape=(2,), dims=(0,)), xla_shape=u32[2]{0}),).\n";
  for (const std::string& log : {unit, devices, spec})
    EXPECT_EQ(RecognisedDialect(log), &jax_log) << log;
  EXPECT_EQ(RecognisedDialect("Compiling the report\n"), nullptr);
  auto in = ImportText(jax_log, unit + devices + spec);
  EXPECT_THAT(in.Rows("SELECT function, input_count FROM compile JOIN graph ON graph.id = "
                      "graph_id ORDER BY ordinal"),
              ElementsAre("f|2", "g|1", "h|1"));
  EXPECT_THAT(
      in.Rows("SELECT shape FROM graph_node JOIN graph ON graph.id = graph_id WHERE graph.name = "
              "'h'"),
      ElementsAre("u32[2]"));
}

TEST(JaxLog, ARefusalDoesNotDenyWhatIsThere) {
  auto in = ImportText(jax_log, "Finished tracing + transforming f for jit in 0.5 sec\n");
  EXPECT_THAT(std::string(Message(in.status)), HasSubstr("are cut"));
  in = ImportText(jax_log, "nothing of the kind\n");
  EXPECT_THAT(std::string(Message(in.status)), HasSubstr("looked for"));
}

TEST(JaxLog, TwoHandlersPrintEachMessageTwice) {
  std::string log;
  for (std::string line : {"Finished tracing f for jit in 0.25 sec",
                           "Compiling jit(f) with global shapes and types (ShapedArray(int32[]),).",
                           "Finished XLA compilation of jit(f) in 2.5 sec"}) {
    log += "W1121 18:30:39.299353 140 dispatch.py:204] " + line + "\n";
    log += "WARNING:jax._src.dispatch:" + line + "\n";
  }
  auto in = ImportText(jax_log, log);
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("f|2500000000|250000000|-|0"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue"), ElementsAre("repeated_message|3"));
}

TEST(JaxLog, ThreadsAndProcesses) {
  // Two threads interleave their lines; two ranks are two processes.
  std::string log =
      "Compiling jit(f) with global shapes and types (ShapedArray(int32[]),).\n"
      "Compiling jit(g) with global shapes and types (ShapedArray(int32[2]),).\n"
      "Finished XLA compilation of jit(g) in 2 sec\n"
      "Finished XLA compilation of jit(f) in 1 sec\n";
  EXPECT_THAT(ImportText(jax_log, log).Rows(kCompiles),
              ElementsAre("f|1000000000|-|-|0", "g|2000000000|-|-|0"));
  log = Compile("f", "(ShapedArray(int32[]),)", "[rank0]: ") +
        Compile("f", "(ShapedArray(int32[]),)", "[rank1]: ");
  EXPECT_THAT(ImportText(jax_log, log)
                  .Rows("SELECT p.rank, c.function FROM compile c JOIN process "
                        "p ON p.id = process_id ORDER BY 1"),
              ElementsAre("0|f", "1|f"));
}

// Regression: a collector's words before each line hid explanations, and several processes became
// one.
TEST(JaxLog, LabelsOfSeveralProcesses) {
  std::vector<std::string> lines;
  std::string log =
      "TRACING CACHE MISS at /x/a.py:61:19 (main):\n"
      "  for f defined at /x/a.py:22\n"
      "  all previously seen cache keys differ. For the closest previous key:\n"
      "  different value of static args:\n"
      "    now 1 and before 0\n" +
      Compile("f", "(ShapedArray(int32[]),)") + "step 1 loss 0.5\n";
  for (size_t at = 0; at < log.size(); at = log.find('\n', at) + 1)
    lines.push_back(log.substr(at, log.find('\n', at) + 1 - at));
  for (std::string label : {"{}: ", "[1,{}]<stderr>: ", "trainer-{}  | ", "tpu-vm-{}: ", "[{}] ",
                            "[pod/train-{}/main] ", "2026-03-02T10:11:1{}Z (train pid={}) "}) {
    SCOPED_TRACE(label);
    auto labelled = [&](int process, const std::string& line) {
      return fmt::format(fmt::runtime(label), process, process) + line;
    };
    std::string one, three;
    for (const std::string& line : lines) {
      one += labelled(0, line);
      for (int process : {0, 1, 2}) three += labelled(process, line);
    }
    EXPECT_THAT(ImportText(jax_log, one).Rows(kReasons),
                ElementsAre("f|constant_change|static argument|0|1"));
    auto in = ImportText(jax_log, three);
    EXPECT_THAT(in.Rows("SELECT count(*), count(DISTINCT process_id) FROM compile"),
                ElementsAre("3|3"));
    EXPECT_THAT(in.Rows("SELECT count(*) FROM compile_reason"), ElementsAre("3"));
    EXPECT_THAT(in.Rows("SELECT count(DISTINCT coalesce(host, '') || coalesce(rank, '') || "
                        "coalesce(pid, '')) FROM process WHERE id IN (SELECT process_id FROM "
                        "compile)"),
                ElementsAre("3"));
  }
  // The two streams belong to one process.
  std::string streams = "<stdout>: epoch 1\n<stdout>: epoch 2\n";
  for (const std::string& line : lines) streams += "<stderr>: " + line;
  auto one_process = ImportText(jax_log, streams);
  EXPECT_THAT(one_process.Rows(kReasons), ElementsAre("f|constant_change|static argument|0|1"));
  EXPECT_THAT(one_process.Rows("SELECT host, rank FROM process"), ElementsAre("-|-"));
  // Each of Docker's records ends with the end of its line.
  std::string records;
  for (std::string line : lines) {
    line.back() = '\\';
    records += "{\"log\":\"" + line + "n\",\"stream\":\"stderr\"}\n";
  }
  EXPECT_THAT(ImportText(jax_log, records).Rows(kReasons),
              ElementsAre("f|constant_change|static argument|0|1"));
}

// JAX adds a hint to a call that traces a new function for the second time. Without the hint, the
// call belongs to another run whose log was appended, or to a process that shares the log.
TEST(JaxLog, RunsThatWereAppended) {
  const std::string run = Compile("iota", "(ShapedArray(int32[]),)") +
                          "TRACING CACHE MISS at /x/a.py:61:19 (main):\n  never seen function:\n"
                          "    f id=7 defined at /x/a.py:22\n" +
                          Compile("f", "(ShapedArray(int32[]),)");
  auto in = ImportText(jax_log, run + run + run);
  EXPECT_THAT(in.Rows(kReasons), IsEmpty());
  EXPECT_THAT(in.Rows("SELECT group_concat(function) FROM compile GROUP BY process_id"),
              ElementsAre("iota,f", "iota,f", "iota,f"));
}

TEST(JaxLog, WhatACutLogTells) {
  auto in = ImportText(jax_log, Compile("f", "(ShapedArray(int32[]),)") +
                                    "Compiling jit(g) with global shapes and types (ShapedArr");
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("f|2000000000|375000000|-|0", "g|-|-|-|0"));
  EXPECT_THAT(in.Rows("SELECT code, first_line FROM import_issue"),
              ElementsAre("cut_file|5", "unfinished_compile|-"));
  // A list of inputs that was cut off is not used.
  EXPECT_THAT(in.Rows("SELECT name FROM graph"), ElementsAre("f"));
  // A filter may leave only the lines that end a compilation.
  in = ImportText(jax_log, "Finished XLA compilation of jit(f) in 1.5 sec\n");
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("f|1500000000|-|-|0"));
  in = ImportText(jax_log, "nothing\n");
  EXPECT_THAT(std::string(Message(in.status)), HasSubstr("JAX_LOG_COMPILES"));
}

constexpr const char* kMiss =
    "TRACING CACHE MISS at /x/a.py:61:19 (main):\n"
    "  for f defined at /x/a.py:22\n"
    "  all previously seen cache keys differ. For the closest previous key:\n"
    "  different input types:\n"
    "  * at x, now f32[3,128] and before f32[3,64]\n";

// Wherever a log with explanations is cut, the importer reports nothing that is false.
TEST(JaxLog, ACutExplanation) {
  const std::string_view whole = kMiss;
  std::string all = Compile("g", "(ShapedArray(int32[]),)") + kMiss;
  for (size_t cut = whole.find(":19") + 1; cut < whole.size(); ++cut) {
    SCOPED_TRACE(whole.substr(0, cut));
    // A miss alone counts as a compile; its function is known only if a whole line names it.
    auto alone = ImportText(jax_log, whole.substr(0, cut));
    if (cut <= whole.find('\n')) {
      EXPECT_FALSE(alone.status.ok());
    } else {
      const bool named = cut >= whole.find("  all");
      EXPECT_THAT(alone.Rows(kCompiles), ElementsAre(named ? "f|-|-|-|1" : "-|-|-|-|1"));
      EXPECT_THAT(alone.Rows("SELECT code FROM import_issue"), ElementsAre("cut_file"));
      EXPECT_THAT(alone.Rows("SELECT file, line FROM site"), ElementsAre("/x/a.py|61"));
    }
    // After other compiles, the cut miss adds no compile: its function may have been traced inside
    // another.
    auto behind = ImportText(jax_log, all.substr(0, all.size() - whole.size() + cut));
    EXPECT_THAT(behind.Rows("SELECT function FROM compile"), ElementsAre("g"));
    EXPECT_THAT(behind.Rows("SELECT code FROM import_issue"), ElementsAre("cut_file"));
  }
  EXPECT_THAT(ImportText(jax_log, kMiss).Rows("SELECT code FROM import_issue"), IsEmpty());
}

TEST(JaxLog, LastLineWithoutEnd) {
  const std::string log = Compile("f", "(ShapedArray(int32[]),)");
  for (std::string_view whole :
       {"step 1 loss 0.5", "100%|####| 9/9", "Finished tracing g for jit in 0.25 sec"}) {
    EXPECT_THAT(ImportText(jax_log, log + std::string(whole)).Rows("SELECT 1 FROM import_issue"),
                IsEmpty())
        << whole;
  }
  for (std::string_view torn : {"Finished tracing g for jit in 0.2", "Compiling jit(g) with glo",
                                "Finished XLA compilation of jit(f"}) {
    auto in = ImportText(jax_log, log + std::string(torn));
    EXPECT_THAT(in.Rows(kCompiles), ElementsAre("f|2000000000|375000000|-|0")) << torn;
    EXPECT_THAT(in.Rows("SELECT code, first_line, first_offset FROM import_issue"),
                ElementsAre(fmt::format("cut_file|5|{}", log.size())))
        << torn;
  }
}

// The last line may also end inside the prefix that a log handler prints, or inside JAX's first words.
TEST(JaxLog, LastLineThatEndsBeforeItsMessage) {
  const auto prefixed = [](std::string_view log) {
    std::string all;
    for (size_t at = 0; at < log.size();) {
      const size_t end = log.find('\n', at) + 1;
      all += fmt::format("WARNING:2026-11-25 00:05:13,030:jax._src.dispatch:236: {}",
                         log.substr(at, end - at));
      at = end;
    }
    return all;
  };
  const std::string log = Compile("f", "(ShapedArray(int32[]),)");
  const auto codes = [](const std::string& text) {
    return ImportText(jax_log, text).Rows("SELECT code FROM import_issue");
  };
  const std::string all = prefixed(log);
  for (std::string_view torn : {"WARNING:20", "WARNING:2026-11-25 00:05:13,030:jax._src",
                                "WARNING:2026-11-25 00:05:13,030:jax._src.dispatch:1017: ",
                                "WARNING:2026-11-25 00:05:13,030:jax._src.dispatch:236: Fin"})
    EXPECT_THAT(codes(all + std::string(torn)), ElementsAre("cut_file")) << torn;
  for (std::string_view whole : {"WARNING:", "WARNING", "step 1",
                                 "WARNING:2026-11-25 00:05:13,030:jax._src.dispatch:236: done"})
    EXPECT_THAT(codes(all + std::string(whole)), IsEmpty()) << whole;
  EXPECT_THAT(codes(log + "Finished trac"), ElementsAre("cut_file"));
  EXPECT_THAT(codes(log + "Finished"), IsEmpty());
  // A prefix without a time may be what the program printed before a message.
  EXPECT_THAT(codes("step 1 " + log + "step 2"), IsEmpty());
}

// After some messages, JAX prints another one about the same program.
TEST(JaxLog, EndsInsideACompilation) {
  const std::string log = Compile("f", "(ShapedArray(int32[]),)");
  const std::string begun =
      "Compiling jit(g) with global shapes and types (ShapedArray(int32[]),). Argument mapping: "
      "(UnspecifiedValue,).\n";
  const auto issues = [](const std::string& text) {
    return ImportText(jax_log, text).Rows("SELECT code, first_line FROM import_issue");
  };
  EXPECT_THAT(issues(log + begun), ElementsAre("cut_file|5", "unfinished_compile|-"));
  EXPECT_THAT(issues(log + begun + "\n"), ElementsAre("cut_file|5", "unfinished_compile|-"));
  // The list of types is whole, and the rest of the line is not.
  EXPECT_THAT(issues(log + begun.substr(0, begun.find("mapping"))),
              ElementsAre("cut_file|5", "unfinished_compile|-"));
  // The program went on, so the compilation failed.
  EXPECT_THAT(issues(log + begun + "RuntimeError: out of memory\n"),
              ElementsAre("unfinished_compile|-"));
  // A filter that leaves no ends of compilations is no cut.
  EXPECT_THAT(issues(begun), IsEmpty());
}

// Collectors cut lines at some length, and the types of a large model are longer than that.
TEST(JaxLog, TypesThatACollectorCut) {
  std::string log = Compile("f", "(ShapedArray(int32[]),)");
  log.replace(log.find(",). Argument"), log.find("\nFinished jaxpr") - log.find(",). Argument"),
              "");
  auto in = ImportText(jax_log, log);
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("f|2000000000|375000000|-|0"));
  EXPECT_THAT(in.Rows("SELECT 1 FROM graph"), IsEmpty());
  EXPECT_THAT(in.Rows("SELECT code, first_line, count FROM import_issue"),
              ElementsAre("cut_types|2|1"));
}

// An inner jitted function prints a miss, but is not a program of its own.
TEST(JaxLog, WhatIsTracedInsideIsNoCompile) {
  std::string log =
      "TRACING CACHE MISS at /x/a.py:5:1 (outer):\n  never seen function:\n    inner id=1 defined "
      "at /x/a.py:2\n" +
      Compile("outer", "(ShapedArray(int32[]),)");
  auto in = ImportText(jax_log, log);
  EXPECT_THAT(in.Rows(kCompiles), ElementsAre("outer|2000000000|375000000|-|0"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), ElementsAre("traced_inside"));
  EXPECT_THAT(in.Rows(kReasons), IsEmpty());
}

}  // namespace
}  // namespace xlaprof
