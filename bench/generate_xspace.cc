// generate_xspace OUT EVENTS [--nested] writes an XSpace like that of a profiled training run.
//
// Half of the events are on a device: programs of 198 ops, each with a module event and a step, and
// 50 us of idle time between them. The other half are calls on eight host threads, one after the
// other. With --nested, they are nested calls of 300 names. The first thread then has a training
// loop: steps of the user, scopes in them, and torch_xla's work to execute a step. Every event has
// one or two statistics, and the ops' names have six more. The same arguments give the same bytes
// on every machine.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int64_t kEpochNs = 1'700'000'000'000'000'000;
constexpr int kOps = 50, kOpsAProgram = 198, kThreads = 8, kHostNames = 40, kNestedNames = 300;
constexpr int kProgramName = 1000, kFirstStepName = 2000;
// Names of a training loop, after those of the calls, and keys of the host's statistics.
enum {
  kTrain = kNestedNames + 1,
  kForward,
  kBackward,
  kMark,
  kSync,
  kCollect,
  kSchedule,
  kExecute
};
enum { kSize = 1, kStepNumber, kRoot };
constexpr int64_t kBetweenOpsPs = 200'000, kBetweenStepsPs = 50'000'000;

// A protobuf message under construction.
class Message {
 public:
  Message& Int(int field, int64_t value) {
    Varint(uint64_t(field) << 3);
    Varint(uint64_t(value));
    return *this;
  }
  Message& Bytes(int field, std::string_view bytes) {
    Varint(uint64_t(field) << 3 | 2);
    Varint(bytes.size());
    bytes_.append(bytes);
    return *this;
  }
  Message& Add(int field, const Message& message) { return Bytes(field, message.bytes_); }
  void Clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(char(value | 0x80));
    bytes_.push_back(char(value));
  }
  std::string bytes_;
};

enum StatField { kUint = 3, kInt = 4, kText = 5 };
Message Stat(int key, StatField field, int64_t value) {
  return std::move(Message().Int(1, key).Int(field, value));
}
Message Stat(int key, std::string_view text) {
  return std::move(Message().Int(1, key).Bytes(kText, text));
}

Message Entry(int64_t key, const Message& value) {
  return std::move(Message().Int(1, key).Add(2, value));
}

Message Line(int id, std::string_view name) {
  return std::move(Message().Int(1, id).Bytes(2, name).Int(3, kEpochNs));
}

// Appends an XEvent with its XStats to a line.
class Events {
 public:
  explicit Events(Message& line) : line_(line) {}
  void Add(int name, int64_t offset_ps, int64_t duration_ps,
           std::initializer_list<std::pair<int, std::pair<StatField, int64_t>>> stats) {
    event_.Clear();
    event_.Int(1, name).Int(2, offset_ps).Int(3, duration_ps);
    for (auto& [key, value] : stats) {
      stat_.Clear();
      stat_.Int(1, key).Int(value.first, value.second);
      event_.Add(4, stat_);
    }
    line_.Add(4, event_);
  }

 private:
  Message& line_;
  Message event_, stat_;
};

void AddStatNames(Message& plane, std::initializer_list<std::string_view> names) {
  int id = 0;
  for (std::string_view name : names) {
    ++id;
    plane.Add(5, Entry(id, Message().Int(1, id).Bytes(2, name)));
  }
}

// Returns a number below `limit`. The distributions of std differ between libraries.
int64_t Below(std::mt19937_64& random, int64_t limit) {
  return int64_t(random() % uint64_t(limit));
}

struct Program {
  Message plane;
  int64_t steps = 0, end_ps = 0;  // end of the last step
};

Program Device(int64_t events, std::mt19937_64& random) {
  enum {
    kHloCategory = 1,
    kProgramId,
    kSymbolId,
    kFlops,
    kBytesAccessed,
    kTfOp,
    kOffset,
    kLength,
    kRunId
  };
  Program program;
  Message& plane = program.plane;
  Message steps = Line(1, "Steps"), modules = Line(2, "XLA Modules"), ops = Line(3, "XLA Ops");
  Events add_step(steps), add_module(modules), add_op(ops);
  int64_t now = 0, step = 0;
  for (int64_t left = events; left > 0; ++step) {
    const int64_t begin = now, count = std::clamp<int64_t>(left - 2, 0, kOpsAProgram);
    for (int64_t i = 0; i < count; ++i) {
      int64_t length = 1'000'000 + Below(random, 3'000'000);
      add_op.Add(int(1 + i % kOps), now, length,
                 {{kOffset, {kUint, now}}, {kLength, {kUint, length}}});
      now += length + kBetweenOpsPs;
    }
    add_module.Add(kProgramName, begin, now - begin, {{kRunId, {kUint, step}}});
    add_step.Add(int(kFirstStepName + step), begin, now - begin, {});
    left -= count + 2;
    now += kBetweenStepsPs;
  }
  plane.Int(1, 0).Bytes(2, "/device:TPU:0").Add(3, steps).Add(3, modules).Add(3, ops);
  for (int i = 1; i <= kOps; ++i) {
    const std::string n = std::to_string(i);
    plane.Add(4, Entry(i, Message()
                              .Int(1, i)
                              .Bytes(2, "%fusion." + n + " = f32[1024,1024] fusion(...)")
                              .Bytes(4, "fusion." + n)
                              .Add(5, Stat(kFlops, kInt, i * 1'000'000))
                              .Add(5, Stat(kBytesAccessed, kInt, i * 4096))
                              .Add(5, Stat(kHloCategory, "loop fusion"))
                              .Add(5, Stat(kTfOp, "aten__add." + n + "/add"))
                              .Add(5, Stat(kProgramId, kUint, 7))
                              .Add(5, Stat(kSymbolId, kUint, i))));
  }
  plane.Add(4,
            Entry(kProgramName, Message().Int(1, kProgramName).Bytes(2, "SyncTensorsGraph.1(7)")));
  for (int64_t i = 0; i < step; ++i) {
    plane.Add(4, Entry(kFirstStepName + i,
                       Message().Int(1, kFirstStepName + i).Bytes(2, std::to_string(i))));
  }
  AddStatNames(plane, {"hlo_category", "program_id", "symbol_id", "flops", "bytes_accessed",
                       "tf_op", "device_offset_ps", "device_duration_ps", "run_id"});
  program.steps = step;
  program.end_ps = now;
  return program;
}

// The calls of one thread, in the order of their starts.
class Thread {
 public:
  Thread(size_t limit, std::mt19937_64& random) : limit_(limit), random_(random) {}

  bool Full() const { return calls_.size() >= limit_; }
  // Adds a call of `name` from `begin_ps` to the time that `inside` returns, and returns that time.
  template <class Inside>
  int64_t Call(int64_t begin_ps, int name, int64_t step, Inside&& inside) {
    const size_t self = calls_.size();
    calls_.push_back({begin_ps, 0, step, name});
    const int64_t end_ps = inside(begin_ps);
    calls_[self].length_ps = end_ps - begin_ps;
    return end_ps;
  }
  // Adds nested calls. Some names are much more frequent than others.
  int64_t Nest(int64_t begin_ps, int depth) {
    const int name = int(1 + std::min(Below(random_, kNestedNames), Below(random_, kNestedNames)));
    return Call(begin_ps, name, -1, [&](int64_t now) {
      now += 50'000 + Below(random_, 400'000);
      for (int64_t more = depth < 6 ? Below(random_, 4) : 0; more > 0 && !Full(); --more)
        now = Nest(now, depth + 1) + 20'000 + Below(random_, 300'000);
      return now + 100'000 * name + Below(random_, 40'000 * name);
    });
  }
  void Write(Message& line) const {
    Events add(line);
    for (size_t i = 0; i < calls_.size(); ++i) {
      const Made& call = calls_[i];
      if (call.step >= 0) {
        add.Add(call.name, call.begin_ps, call.length_ps,
                {{kStepNumber, {kInt, call.step}}, {kRoot, {kInt, 1}}});
      } else {
        add.Add(call.name, call.begin_ps, call.length_ps, {{kSize, {kInt, int64_t(i)}}});
      }
    }
  }

 private:
  struct Made {
    int64_t begin_ps, length_ps, step;  // step: its number; -1: not a step
    int name;
  };
  const size_t limit_;
  std::mt19937_64& random_;
  std::vector<Made> calls_;
};

// Adds the steps of a training loop that keep pace with the device's.
void Train(int64_t steps, int64_t end_ps, Thread& thread) {
  const int64_t every_ps = end_ps / steps;
  int64_t now = 0;
  for (int64_t step = 0; !thread.Full(); ++step) {
    now = thread.Call(std::max(now, step * every_ps), kTrain, step, [&](int64_t at) {
      for (int scope : {kForward, kBackward})
        at = thread.Call(at + 2'000'000, scope, -1, [&](int64_t in) { return thread.Nest(in, 3); });
      return thread.Call(at, kMark, -1, [&](int64_t mark) {
        return thread.Call(mark, kSync, -1, [&](int64_t in) {
          for (int stage : {kCollect, kSchedule, kExecute})
            in = thread.Call(in, stage, -1, [](int64_t t) { return t + 20'000'000; });
          return in;
        });
      });
    });
  }
}

// Returns the host's plane. `steps` is the number of the device's steps.
Message Host(int64_t events, int64_t steps, int64_t end_ps, bool nested, std::mt19937_64& random) {
  Message plane;
  plane.Int(1, 1).Bytes(2, "/host:CPU");
  for (int t = 0; t < kThreads; ++t) {
    const bool trains = nested && t == 0;
    Message line = Line(10 + t, (trains ? "python/" : "thread/") + std::to_string(10 + t));
    const int64_t count = events / kThreads + (t == 0 ? events % kThreads : 0);
    if (nested) {
      Thread thread(size_t(count), random);
      if (trains) Train(steps, end_ps, thread);
      for (int64_t now = 0; !thread.Full();) now = thread.Nest(now, 0) + Below(random, 2'000'000);
      thread.Write(line);
    } else {
      Events add(line);
      const int64_t every = std::max<int64_t>(1, end_ps / std::max<int64_t>(1, count));
      for (int64_t i = 0; i < count; ++i)
        add.Add(int(1 + (i * 7 + t) % kHostNames), i * every, every * 4 / 5, {{kSize, {kInt, i}}});
    }
    plane.Add(3, line);
  }
  auto name = [&](int id, const std::string& text) {
    plane.Add(4, Entry(id, Message().Int(1, id).Bytes(2, text)));
  };
  for (int i = 1; i <= (nested ? kNestedNames : kHostNames); ++i)
    name(i, "aten::op_" + std::to_string(i));
  if (nested) {
    name(kTrain, "train");
    name(kForward, "forward");
    name(kBackward, "backward");
    name(kMark, "StepMarker");
    name(kSync, "SyncTensorsGraphInternal");
    name(kCollect, "CollectSyncTensors");
    name(kSchedule, "ScheduleSyncTensorsGraph");
    name(kExecute, "PjRtComputationClient::ExecuteComputation");
  }
  AddStatNames(plane, {"size", "step_num", "_r"});
  return plane;
}

}  // namespace

int main(int argc, char** argv) {
  const bool nested = argc == 4 && std::string_view(argv[3]) == "--nested";
  const int64_t events = argc >= 3 ? std::atoll(argv[2]) : 0;
  if (events <= 0 || argc > 4 || (argc == 4 && !nested)) {
    std::fprintf(stderr, "generate_xspace OUT EVENTS [--nested]\n");
    return 2;
  }
  std::mt19937_64 random(1);
  std::ofstream out(argv[1], std::ios::binary);
  auto write = [&](const Message& plane) {
    Message head;
    head.Bytes(1, plane.bytes());
    out.write(head.bytes().data(), std::streamsize(head.bytes().size()));
  };
  Program program = Device(events / 2, random);
  write(program.plane);
  program.plane = {};
  write(Host(events - events / 2, program.steps, program.end_ps, nested, random));
  Message session;
  session.Int(1, 2).Bytes(2, "Task Environment");
  AddStatNames(session, {"profile_start_time", "profile_stop_time"});
  session.Add(6, Stat(1, kUint, kEpochNs)).Add(6, Stat(2, kUint, kEpochNs + program.end_ps / 1000));
  write(session);
  const std::string hostname = Message().Bytes(4, "synth").bytes();
  out.write(hostname.data(), std::streamsize(hostname.size()));
  if (!out.flush()) {
    std::fprintf(stderr, "generate_xspace: cannot write %s\n", argv[1]);
    return 2;
  }
}
