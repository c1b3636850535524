// Finds the errors by which torch_xla, and the lazy runtime of xlaprof, say that no environment
// variable names a device that they can use:
//
//   RuntimeError: tensorflow/compiler/xla/xla_client/computation_client.cc:273 : Missing XLA configuration
//   RuntimeError: $PJRT_DEVICE is not set.
//   RuntimeError: No PjRtPlugin registered for: FOO. Make sure the environment variable PJRT_DEVICE …
//   Missing XLA configuration: XLAPROF_DEVICE=tpu is not a backend. Set it to native, pjrt or null …
//
// The first was torch_xla's until it used PJRT.
#include <algorithm>

#include "profiler/import/log/dialect.h"
#include "profiler/import/text/utf8.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

constexpr std::string_view kMissing = "Missing XLA configuration",
                           kOurs = "Missing XLA configuration: XLAPROF_DEVICE=",
                           kNotSet = "$PJRT_DEVICE is not set.",
                           kNoPlugin = "No PjRtPlugin registered for: ";
constexpr std::string_view kDeviceErrorMarks[] = {kMissing, kNotSet, kNoPlugin};

// Returns the message of an error, or "" if the line is none. A text about such an error, such as a
// page that quotes it, goes on after it.
std::string_view DeviceErrorIn(std::string_view line) {
  for (std::string_view mark : kDeviceErrorMarks) {
    const size_t at = line.find(mark);
    if (at == kNone || (at > 0 && !line.substr(0, at).ends_with(": "))) continue;
    const std::string_view message = Trim(line.substr(at));
    if (message == mark || message.starts_with(kOurs) || mark == kNoPlugin) return message;
  }
  return {};
}

int SniffDeviceError(std::string_view window) {
  return std::ranges::any_of(kDeviceErrorMarks,
                             [&](std::string_view mark) { return window.find(mark) != kNone; })
             ? 20
             : 0;
}

class DeviceErrorReader : public DialectReader {
 public:
  explicit DeviceErrorReader(LogReading& reading) : reading_(reading) {}

  void Take() override {
    std::string_view message = DeviceErrorIn(reading_.texts.text());
    if (message.empty()) return;
    if (count_++ > 0) return;
    message_ = ToUtf8(message);
    first_ = {reading_.texts.offset(), reading_.texts.number()};
  }
  bool Found() const override { return count_ > 0; }

  absl::Status Refuse() const override {
    return Invalid(
        "{}: none of its {} lines is an error about a missing device. xlaprof looked for '{}', '{}' and '{}' at the end of an error. Use the whole log, or name the format with --as",
        reading_.input.path, reading_.texts.number(), kMissing, kNotSet, kNoPlugin);
  }

  absl::Status WriteIssues() override {
    if (count_ == 0) return absl::OkStatus();
    return reading_.context.Issue(issue_codes::kNoDevice, Severity::kInfo, message_,
                                  first_.offset, first_.line, count_);
  }

 private:
  LogReading& reading_;
  int64_t count_ = 0;
  std::string message_;  // of the first
  TextPosition first_;
};

}  // namespace

extern const Dialect device_error{
    .name = "device_error",
    .summary = "any program that found no device for torch_xla or the lazy runtime",
    .example = "train.log",
    .sniff = SniffDeviceError,
    .marks = kDeviceErrorMarks,
    .read = MakeReader<DeviceErrorReader>};

}  // namespace xlaprof
