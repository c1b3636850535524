#include "core/backend/native/onednn.h"

#include <omp.h>

namespace xlaprof::lazy {

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}
OneThread::~OneThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

dnnl::engine& Engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}
// The stream is shared, because a CPU's stream has no state.
dnnl::stream& Stream() {
  static dnnl::stream stream(Engine());
  return stream;
}

// Copies only what says where the tensors are. The primitives' code is shared.
Primitives::Primitives(const Primitives& other)
    : Thunk(other), scratch_bytes_(other.scratch_bytes_) {
  for (const Step& step : other.steps_) {
    Step& copy = steps_.emplace_back(Step{step.primitive});
    for (size_t i = 0; i < step.arguments.size(); ++i)
      AddTo(&copy, {step.arguments[i].arg, step.memories[i].get_desc(), step.sources[i]});
  }
}

void Primitives::Run(char* const* memory) {
  const OneThread one_thread;
  char* scratch = scratch_ < 0 ? nullptr : memory[scratch_];
  for (Step& step : steps_) {
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const Source& source = step.sources[i];
      char* at = source.slot >= 0 ? memory[source.slot] : scratch + source.offset;
      dnnl_memory_set_data_handle(step.arguments[i].memory, at);
    }
    dnnl_primitive_execute(step.primitive.get(), Stream().get(), int(step.arguments.size()),
                           step.arguments.data());
  }
}

dnnl::primitive_attr Primitives::WithOurScratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Primitives::Source Primitives::Scratch(size_t bytes) {
  const Source source{-1, scratch_bytes_};
  scratch_bytes_ += (int64_t(bytes) + 63) / 64 * 64;
  return source;
}

void Primitives::AddTo(Step* step, const Argument& argument) {
  step->memories.emplace_back(argument.layout, Engine(), nullptr);
  step->arguments.push_back({argument.number, step->memories.back().get()});
  step->sources.push_back(argument.source);
}

void Primitives::Push(Step step, const Memory::desc& scratchpad) {
  if (scratchpad.get_size() > 0)
    AddTo(&step, {DNNL_ARG_SCRATCHPAD, scratchpad, Scratch(scratchpad.get_size())});
  steps_.push_back(std::move(step));
}

void Primitives::Add(const dnnl::primitive_desc_base& description, std::vector<Argument> operands,
                     std::vector<Argument> results) {
  auto wanted = [&](const Argument& argument) {
    return description.query_md(dnnl::query::exec_arg_md, argument.number);
  };
  Step step{dnnl::primitive(description.get())};
  for (const Argument& operand : operands) {
    Argument used{operand.number, wanted(operand), operand.source};
    if (used.layout != operand.layout) {
      used.source = Scratch(used.layout.get_size());
      Reorder(operand.layout, operand.source, used.layout, used.source);
    }
    AddTo(&step, used);
  }
  std::vector<Argument> made;
  for (const Argument& result : results) {
    made.push_back({result.number, wanted(result), result.source});
    if (made.back().layout != result.layout)
      made.back().source = Scratch(made.back().layout.get_size());
    AddTo(&step, made.back());
  }
  Push(std::move(step), description.scratchpad_desc());
  for (size_t i = 0; i < results.size(); ++i) {
    if (made[i].layout != results[i].layout)
      Reorder(made[i].layout, made[i].source, results[i].layout, results[i].source);
  }
}

void Primitives::Reorder(const Memory::desc& from, Source from_source, const Memory::desc& to,
                         Source to_source) {
  const dnnl::reorder::primitive_desc description(Engine(), from, Engine(), to, WithOurScratch());
  Step step{dnnl::reorder(description)};
  AddTo(&step, {DNNL_ARG_FROM, from, from_source});
  AddTo(&step, {DNNL_ARG_TO, to, to_source});
  Push(std::move(step), description.scratchpad_desc());
}

}  // namespace xlaprof::lazy
