// generate_chrome OUT EVENTS writes a Chrome trace of a training run as JSON, about 110 bytes per
// event.
//
// Events are in time order. Steps have calls on four host threads, nested three deep. Every sixth
// call launches a kernel on one of two streams, with a flow from the call to it. Every twentieth
// event is a counter sample. A third of the events have arguments. The same count gives the same
// bytes on every machine.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace {

constexpr int kPid = 4711, kDevicePid = 0, kThreads = 4, kStreams = 2, kNames = 120;
constexpr int kCallsAStep = 400;

class Trace {
 public:
  Trace(std::FILE* out, int64_t limit) : out_(out), limit_(limit) {
    std::fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", out_);
    Name("process_name", kPid, 0, "python train.py");
    Name("process_name", kDevicePid, 0, "GPU 0");
    for (int t = 0; t < kThreads; ++t)
      Name("thread_name", kPid, 100 + t, "thread " + std::to_string(100 + t));
    for (int s = 0; s < kStreams; ++s)
      Name("thread_name", kDevicePid, 7 + s, "stream " + std::to_string(7 + s));
  }
  void Write() {
    while (!Full()) Step();
    std::fputs("\n]}\n", out_);
  }

 private:
  bool Full() const { return count_ >= limit_; }
  int64_t Below(int64_t limit) { return int64_t(random_() % uint64_t(limit)); }
  // Returns nanoseconds as microseconds with three decimals.
  static std::string Us(int64_t ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(ns / 1000),
                  int(ns % 1000));
    return text;
  }
  void Name(const char* what, int pid, int tid, const std::string& name) {
    Put("{\"ph\":\"M\",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid) +
        ",\"name\":\"" + what + "\",\"args\":{\"name\":\"" + name + "\"}}");
  }
  void Put(const std::string& event) {
    if (count_++ > 0) std::fputs(",\n", out_);
    std::fputs(event.c_str(), out_);
  }
  std::string Head(char phase, int pid, int tid, int64_t ts_ns) {
    return std::string("{\"ph\":\"") + phase + "\",\"pid\":" + std::to_string(pid) +
           ",\"tid\":" + std::to_string(tid) + ",\"ts\":" + Us(ts_ns);
  }
  void Slice(int pid, int tid, int64_t ts_ns, int64_t dur_ns, const char* category,
             const std::string& name, const std::string& args) {
    std::string event = Head('X', pid, tid, ts_ns) + ",\"dur\":" + Us(dur_ns) + ",\"cat\":\"" +
                        category + "\",\"name\":\"" + name + "\"";
    if (!args.empty()) event += ",\"args\":{" + args + "}";
    Put(event + "}");
  }

  void Step() {
    const int64_t begin_ns = now_ns_;
    int64_t step_ns = 0;
    for (int i = 0; i < kCallsAStep && !Full(); ++i)
      Call(i % kThreads, begin_ns + step_ns, &step_ns);
    if (!Full()) {
      Slice(kPid, 100, begin_ns, step_ns, "user_annotation",
            "ProfilerStep#" + std::to_string(step_), "");
    }
    ++step_;
    now_ns_ = begin_ns + step_ns + 5'000 + Below(20'000);
  }

  // Writes a call with one or two inside it, and adds its length to *at_ns.
  void Call(int thread, int64_t ts_ns, int64_t* at_ns) {
    const int tid = 100 + thread;
    const int64_t length_ns = 4'000 + Below(12'000);
    const std::string op = "aten::op_" + std::to_string(Below(kNames));
    ++external_;
    Slice(kPid, tid, ts_ns, length_ns, "cpu_op", op,
          external_ % 2 == 0 ? "\"External id\":" + std::to_string(external_) +
                                   ",\"Sequence number\":" + std::to_string(external_ * 3)
                             : "");
    Slice(kPid, tid, ts_ns + 300, length_ns / 2, "cpu_op", op + "_impl", "");
    if (external_ % 6 == 0) {
      const int64_t launch_ns = ts_ns + 500 + Below(length_ns / 4);
      const std::string id = std::to_string(external_);
      Slice(kPid, tid, launch_ns, 500, "cuda_runtime", "cudaLaunchKernel",
            "\"correlation\":" + id + ",\"External id\":" + id);
      Put(Head('s', kPid, tid, launch_ns) + ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":" + id +
          "}");
      int64_t& stream_ns = stream_ns_[external_ / 6 % kStreams];
      const int64_t kernel_ns = std::max(stream_ns, launch_ns + 4'000);
      const int64_t kernel_length_ns = 3'000 + Below(30'000);
      const int stream = 7 + int(external_ / 6 % kStreams);
      Put(Head('f', kDevicePid, stream, kernel_ns) +
          ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\",\"id\":" + id + "}");
      Slice(kDevicePid, stream, kernel_ns, kernel_length_ns, "kernel",
            "void fused_elementwise_kernel<float, " + std::to_string(Below(40)) + ">(float*)",
            "\"correlation\":" + id + ",\"stream\":" + std::to_string(stream) + ",\"grid\":[" +
                std::to_string(1 + Below(512)) + ",1,1],\"block\":[256,1,1]");
      stream_ns = kernel_ns + kernel_length_ns + 200;
    }
    if (external_ % 8 == 0) {
      Put(Head('C', kPid, 0, ts_ns) + ",\"name\":\"allocated bytes\",\"args\":{\"bytes\":" +
          std::to_string(4096 * Below(1'000'000)) + "}}");
    }
    *at_ns += length_ns + 200 + Below(800);
  }

  std::FILE* out_;
  const int64_t limit_;
  std::mt19937_64 random_{1};
  int64_t count_ = 0, step_ = 0, now_ns_ = 1'000'000, external_ = 0;
  int64_t stream_ns_[kStreams] = {};
};

}  // namespace

int main(int argc, char** argv) {
  const int64_t events = argc == 3 ? std::atoll(argv[2]) : 0;
  std::FILE* out = events > 0 ? std::fopen(argv[1], "wb") : nullptr;
  if (out == nullptr) {
    std::fprintf(stderr, "generate_chrome OUT EVENTS\n");
    return 2;
  }
  Trace(out, events).Write();
  if (std::fclose(out) != 0) {
    std::fprintf(stderr, "generate_chrome: cannot write %s\n", argv[1]);
    return 2;
  }
}
