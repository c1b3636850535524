#include "python/extension/recording.h"

#include <unistd.h>

#include <optional>
#include <string>

#include "base/say.h"
#include "profiler/record/current.h"
#include "profiler/record/forked.h"
#include "profiler/record/start_at.h"
#include "python/extension/names.h"
#include "python/extension/scope.h"

namespace xlaprof::python {
namespace {

// The recording that start() began. If nobody stops it, it ends with the process, after Python has
// ended. A forked child has its parent's object, which it leaves alone.
class OfThisProcess {
 public:
  ~OfThisProcess() {
    if (!started_ || pid_ != getpid()) return;
    if (const auto stats = started_->recording.Stop(); !stats.ok())
      Say(fmt::format("xlaprof: {}\n", Message(stats.status())));
  }
  absl::StatusOr<std::string> Start(const std::string& path) {
    XP_TRY(record::Started started, record::StartAt(path));
    started_.emplace(std::move(started));
    pid_ = getpid();
    return started_->path.string();
  }
  bool is_running() const { return started_.has_value() && pid_ == getpid(); }
  absl::StatusOr<RecordStats> Stop() {
    auto stats = started_->recording.Stop();
    started_.reset();
    return stats;
  }

 private:
  std::optional<record::Started> started_;
  pid_t pid_ = 0;
};
OfThisProcess& TheRecording() {
  static OfThisProcess recording;
  return recording;
}

PyObject* Start(PyObject* /*module*/, PyObject* path) {
  if (PyUnicode_Check(path) == 0) {
    PyErr_SetString(PyExc_TypeError, "start() takes a path, which is a str");
    return nullptr;
  }
  const std::string where(Utf8(path));
  absl::StatusOr<std::string> started;
  Py_BEGIN_ALLOW_THREADS;
  started = TheRecording().Start(where);
  Py_END_ALLOW_THREADS;
  if (!started.ok()) {
    return Raise(absl::IsAlreadyExists(started.status()) ? PyExc_FileExistsError
                 : absl::IsUnavailable(started.status()) ? PyExc_OSError
                                                         : PyExc_RuntimeError,
                 started.status());
  }
  return PyUnicode_DecodeFSDefaultAndSize(started->data(), Py_ssize_t(started->size()));
}

PyObject* Stop(PyObject* /*module*/, PyObject* /*none*/) {
  if (!TheRecording().is_running()) Py_RETURN_NONE;
  absl::StatusOr<RecordStats> stats;
  Py_BEGIN_ALLOW_THREADS;
  stats = TheRecording().Stop();
  Py_END_ALLOW_THREADS;
  if (!stats.ok()) return Raise(PyExc_OSError, stats.status());
  return Py_BuildValue("{sLsLsLsLsLsL}", "events", (long long)stats->events, "dropped",
                       (long long)stats->dropped, "forked", (long long)stats->forked, "threads",
                       (long long)stats->threads, "drain_cpu_ns", (long long)stats->drain_cpu_ns,
                       "committed_bytes", (long long)stats->committed_bytes);
}

PyObject* IsRecording(PyObject* /*module*/, PyObject* /*none*/) {
  return PyBool_FromLong(record::recording.load(std::memory_order_relaxed) != 0);
}

// Returns whether a value is a number that can be read without waiting for a device: an int, a
// float, or one of NumPy's.
bool IsReadable(PyObject* value) {
  if (PyFloat_Check(value) != 0 || PyLong_Check(value) != 0) return true;
  const Owned module(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(value)), "__module__"));
  if (!module) PyErr_Clear();
  return module && PyUnicode_Check(module.get()) != 0 && Utf8(module.get()) == "numpy";
}

PyObject* Count(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (count != 2 || PyUnicode_Check(args[0]) == 0 || !IsReadable(args[1])) {
    PyErr_SetString(PyExc_TypeError,
                    "counter() takes a name and a number: counter(\"loss\", 0.5). It does not wait "
                    "for a device: read a tensor's value first, with float(tensor)");
    return nullptr;
  }
  if (record::recording.load(std::memory_order_relaxed) == 0) Py_RETURN_NONE;
  const double value = PyFloat_AsDouble(args[1]);
  if (value == -1 && PyErr_Occurred() != nullptr) return nullptr;
  if (record::ring_of_thread == nullptr) NameThisThread();
  Site site{};
  site.id = SiteWithoutPlace(args[0], Use::kCounter);
  Counter(site, value);
  Py_RETURN_NONE;
}

PyObject* Mark(PyObject* /*module*/, PyObject* name) {
  if (PyUnicode_Check(name) == 0) {
    PyErr_SetString(PyExc_TypeError, "instant() takes a name, which is a str");
    return nullptr;
  }
  if (record::recording.load(std::memory_order_relaxed) == 0) Py_RETURN_NONE;
  if (record::ring_of_thread == nullptr) NameThisThread();
  Site site{};
  site.id = SiteOf(name, Use::kScope).site;
  Instant(site);
  Py_RETURN_NONE;
}

PyObject* SetProcessName(PyObject* /*module*/, PyObject* name) {
  if (PyUnicode_Check(name) == 0) {
    PyErr_SetString(PyExc_TypeError, "name_process() takes a name, which is a str");
    return nullptr;
  }
  NameProcess(Utf8(name));
  Py_RETURN_NONE;
}

PyObject* Commit(PyObject* /*module*/, PyObject* /*none*/) {
  absl::StatusOr<CurrentRecording> now;
  Py_BEGIN_ALLOW_THREADS;
  now = CommitRecording();
  Py_END_ALLOW_THREADS;
  if (absl::IsNotFound(now.status())) Py_RETURN_NONE;
  if (!now.ok()) return Raise(PyExc_OSError, now.status());
  const std::string path = now->path.string();
  return PyUnicode_DecodeFSDefaultAndSize(path.data(), Py_ssize_t(path.size()));
}

PyObject* EndInChild(PyObject* /*module*/, PyObject* /*none*/) {
  Py_BEGIN_ALLOW_THREADS;
  record::EndForkedChild();
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

}  // namespace

bool AddRecording(PyObject* module) {
  TheRecording();
  static PyMethodDef functions[] = {
      {"start", Start, METH_O,
       "Starts to record into a file, or into a file of this process in a directory. Returns its "
       "path."},
      {"stop", Stop, METH_NOARGS,
       "Ends what start() began. Returns its counts, or None if nothing was begun here."},
      {"is_recording", IsRecording, METH_NOARGS,
       "is_recording()\n--\n\nReturns whether something records this process."},
      {"counter", Method(Count), METH_FASTCALL,
       "counter(name, value, /)\n--\n\nRecords a number at this moment."},
      {"instant", Mark, METH_O, "instant(name, /)\n--\n\nRecords a moment."},
      {"name_process", SetProcessName, METH_O,
       "name_process(name, /)\n--\n\nNames this process in recordings."},
      {"commit", Commit, METH_NOARGS,
       "Writes everything that was completed. Returns the path of the file, or None if nothing "
       "records."},
      {"end_in_child", EndInChild, METH_NOARGS,
       "Ends the recording of a forked child before the child's end."},
      {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace xlaprof::python
