// Convolutions and their gradients: by oneDNN for f32, else loop in loop.
#include <algorithm>

#include "core/backend/native/onednn.h"
#include "core/backend/native/through_f32.h"

namespace xlaprof::lazy {
namespace {

enum class Kind { kForward, kInput, kWeight };

Kind KindOf(const Task& task) {
  const Op* op = task.instruction.op;
  return op == &op::convolution                  ? Kind::kForward
         : op == &op::convolution_backward_input ? Kind::kInput
                                                 : Kind::kWeight;
}

// Input, weight and result of the convolution that a task is, or is a gradient of.
struct Tensors {
  Place input, weight, output;
  explicit Tensors(const Task& task) {
    switch (KindOf(task)) {
      case Kind::kForward:
        input = task.operands[0], weight = task.operands[1], output = task.result;
        break;
      case Kind::kInput:
        weight = task.operands[0], output = task.operands[1], input = task.result;
        break;
      case Kind::kWeight:
        input = task.operands[0], output = task.operands[1], weight = task.result;
        break;
    }
  }
};

// One primitive, and the reorders to and from the layouts that it is fastest with.
class Convolution final : public Thunk {
 public:
  static ThunkOr Make(const Task& task) {
    return Guarded(Describe(task),
                   [&]() -> ThunkOr { return std::unique_ptr<Thunk>(new Convolution(task)); });
  }

  int64_t scratch_bytes() const override { return scratch_bytes_; }

  void Run(char* const* memory) override {
    const OneThread one_thread;
    char* scratch = memory[scratch_];
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

 private:
  using Memory = dnnl::memory;
  struct Source {
    int32_t slot = -1;  // -1: in the scratch memory
    int64_t offset = 0;
  };
  struct Step {
    dnnl::primitive primitive;
    std::vector<Memory> memories;  // own what `arguments` points to
    std::vector<dnnl_exec_arg_t> arguments;
    std::vector<Source> sources;

    void Add(int argument, const Memory::desc& desc, Source source) {
      memories.emplace_back(desc, Engine(), nullptr);
      arguments.push_back({argument, memories.back().get()});
      sources.push_back(source);
    }
  };

  explicit Convolution(const Task& task) {
    const Tensors tensors(task);
    const Attributes& a = task.instruction.attributes;
    auto any = [](const Place& place) {
      return Memory::desc(Sizes(place), Memory::data_type::f32, Memory::format_tag::any);
    };
    const Memory::desc input = any(tensors.input), weight = any(tensors.weight),
                       output = any(tensors.output);
    const Memory::dims strides{a[0], a[1]}, padding{a[2], a[3]};
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    using Algorithm = dnnl::algorithm;
    using Forward = dnnl::convolution_forward;
    using BackwardInput = dnnl::convolution_backward_data;
    using BackwardWeight = dnnl::convolution_backward_weights;
    const auto direct = Algorithm::convolution_direct;
    const Forward::primitive_desc forward(
        Forward::desc(dnnl::prop_kind::forward_training, direct, input, weight, output, strides,
                      padding, padding),
        attributes, Engine());
    switch (KindOf(task)) {
      case Kind::kForward:
        Add<Forward>(forward, tensors,
                     {{DNNL_ARG_SRC, &tensors.input}, {DNNL_ARG_WEIGHTS, &tensors.weight}},
                     DNNL_ARG_DST, tensors.output);
        break;
      case Kind::kInput:
        Add<BackwardInput>(
            BackwardInput::primitive_desc(
                BackwardInput::desc(direct, input, weight, output, strides, padding, padding),
                attributes, Engine(), forward),
            tensors, {{DNNL_ARG_WEIGHTS, &tensors.weight}, {DNNL_ARG_DIFF_DST, &tensors.output}},
            DNNL_ARG_DIFF_SRC, tensors.input);
        break;
      case Kind::kWeight:
        Add<BackwardWeight>(
            BackwardWeight::primitive_desc(
                BackwardWeight::desc(direct, input, weight, output, strides, padding, padding),
                attributes, Engine(), forward),
            tensors, {{DNNL_ARG_SRC, &tensors.input}, {DNNL_ARG_DIFF_DST, &tensors.output}},
            DNNL_ARG_DIFF_WEIGHTS, tensors.weight);
        break;
    }
  }

  static Memory::dims Sizes(const Place& place) {
    return {place.shape.dims.begin(), place.shape.dims.end()};
  }
  static Memory::desc Plain(const Place& place) {
    return {Sizes(place), Memory::data_type::f32, Memory::format_tag::abcd};
  }
  Source Scratch(size_t bytes) {
    const Source source{-1, scratch_bytes_};
    scratch_bytes_ += (int64_t(bytes) + 63) / 64 * 64;
    return source;
  }

  template <class Primitive>
  void Add(const typename Primitive::primitive_desc& description, const Tensors&,
           std::vector<std::pair<int, const Place*>> operands, int result_argument,
           const Place& result) {
    Step main{Primitive(description)};
    main.memories.reserve(operands.size() + 2);
    for (const auto& [argument, place] : operands)
      main.Add(argument, description.query_md(dnnl::query::exec_arg_md, argument),
               InLayout(*place, description.query_md(dnnl::query::exec_arg_md, argument)));
    const Memory::desc made = description.query_md(dnnl::query::exec_arg_md, result_argument);
    const bool plain = made == Plain(result);
    const Source to = plain ? Source{result.slot} : Scratch(made.get_size());
    main.Add(result_argument, made, to);
    if (const Memory::desc scratchpad = description.scratchpad_desc(); scratchpad.get_size() > 0)
      main.Add(DNNL_ARG_SCRATCHPAD, scratchpad, Scratch(scratchpad.get_size()));
    steps_.push_back(std::move(main));
    if (!plain) Reorder(made, to, Plain(result), {result.slot});
  }

  // Where an operand is in the layout `desc`.
  Source InLayout(const Place& place, const Memory::desc& desc) {
    if (desc == Plain(place)) return {place.slot};
    const Source to = Scratch(desc.get_size());
    Reorder(Plain(place), {place.slot}, desc, to);
    return to;
  }

  void Reorder(const Memory::desc& from, Source from_source, const Memory::desc& to,
               Source to_source) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc description(Engine(), from, Engine(), to, attributes);
    Step step{dnnl::reorder(description)};
    step.Add(DNNL_ARG_FROM, from, from_source);
    step.Add(DNNL_ARG_TO, to, to_source);
    const Memory::desc scratchpad = description.scratchpad_desc();
    if (scratchpad.get_size() > 0)
      step.Add(DNNL_ARG_SCRATCHPAD, scratchpad, Scratch(scratchpad.get_size()));
    steps_.push_back(std::move(step));
  }

  std::vector<Step> steps_;
  int64_t scratch_bytes_ = 0;
};

// The images of a batch among the threads; gradients of the weight are added up in the end.
class ByImages final : public Thunk {
 public:
  static ThunkOr Make(const Task& task, int64_t images) {
    auto all = std::unique_ptr<ByImages>(new ByImages(task));
    const int64_t parts = std::min<int64_t>(task.pool.threads(), images);
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t begin = images * i / parts, end = images * (i + 1) / parts;
      Instruction it = task.instruction;
      Task part{
          .instruction = it, .operands = task.operands, .result = task.result, .pool = task.pool};
      Part made;
      for (size_t k = 0; k < 3; ++k) {
        Place& place = k < 2 ? part.operands[k] : part.result;
        made.slots[k] = place.slot;
        place.slot = int32_t(k);
        if (all->IsWeight(k)) continue;
        made.offsets[k] = begin * (place.shape.bytes() / images);
        place.shape.dims[0] = end - begin;
      }
      it.shape = part.result.shape;
      XP_TRY(made.thunk, Convolution::Make(part));
      made.thunk->set_scratch(3);
      all->parts_.push_back(std::move(made));
    }
    return all;
  }

  int64_t scratch_bytes() const override {
    int64_t bytes = 0;
    for (const Part& part : parts_) bytes += Rounded(part.thunk->scratch_bytes());
    return bytes + (weight_ == 2 ? weight_bytes_ * int64_t(parts_.size()) : 0);
  }

  void Run(char* const* memory) override {
    char* scratch = memory[scratch_];
    for (Part& part : parts_) {
      for (size_t k = 0; k < 3; ++k) part.table[k] = memory[part.slots[k]] + part.offsets[k];
      // The first's is the sum.
      if (weight_ == 2 && &part != &parts_[0]) {
        part.table[2] = scratch;
        scratch += weight_bytes_;
      }
      part.table[3] = scratch;
      scratch += Rounded(part.thunk->scratch_bytes());
    }
    pool_.For(int64_t(parts_.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Part& part = parts_[size_t(i)];
        part.thunk->Run(part.table);
      }
    });
    if (weight_ != 2) return;
    const auto add = ThisCpusLoops().accumulate[size_t(Reduction::kSum)][size_t(Computed::kF32)];
    for (size_t i = 1; i < parts_.size(); ++i)
      add(parts_[i].table[2], parts_[0].table[2], weight_elements_);
  }

 private:
  struct Part {
    std::unique_ptr<Thunk> thunk;
    int32_t slots[3];  // operands and result
    int64_t offsets[3] = {};
    char* table[4] = {};  // and scratch
  };

  explicit ByImages(const Task& task)
      : weight_(KindOf(task) == Kind::kForward ? 1
                : KindOf(task) == Kind::kInput ? 0
                                               : 2),
        weight_elements_(Tensors(task).weight.shape.elements()),
        weight_bytes_(Rounded(weight_elements_ * 4)),
        pool_(task.pool) {}
  bool IsWeight(size_t place) const { return place == weight_; }
  static int64_t Rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

  const size_t weight_;  // which of the three places
  const int64_t weight_elements_, weight_bytes_;
  std::vector<Part> parts_;
  ThreadPool& pool_;
};

// So many operations are worth another thread.
constexpr double kWorthSharing = 4e6;

// f64. One loop for all three: each takes two of the tensors and adds to the third.
ThunkOr MakeSimple(const Task& task) {
  const Tensors tensors(task);
  const Kind kind = KindOf(task);
  const Attributes a = task.instruction.attributes;
  return ThunkOf(
      [=, bytes = task.result.shape.bytes(), result = task.result.slot](char* const* memory) {
        std::memset(memory[result], 0, size_t(bytes));
        auto* x = reinterpret_cast<double*>(memory[tensors.input.slot]);
        auto* w = reinterpret_cast<double*>(memory[tensors.weight.slot]);
        auto* y = reinterpret_cast<double*>(memory[tensors.output.slot]);
        const Dims &in = tensors.input.shape.dims, &window = tensors.weight.shape.dims,
                   &out = tensors.output.shape.dims;
        const int64_t places = out[2] * out[3];
        for (int64_t plane = 0; plane < out[0] * out[1]; ++plane) {
          const int64_t image = plane / out[1], to = plane % out[1];
          for (int64_t from = 0; from < in[1]; ++from) {
            double* x_plane = x + (image * in[1] + from) * in[2] * in[3];
            double* w_plane = w + (to * in[1] + from) * window[2] * window[3];
            for (int64_t place = 0; place < places; ++place) {
              double& y_at = y[plane * places + place];
              for (int64_t at = 0; at < window[2] * window[3]; ++at) {
                const int64_t row = place / out[3] * a[0] - a[2] + at / window[3];
                const int64_t column = place % out[3] * a[1] - a[3] + at % window[3];
                if (row < 0 || row >= in[2] || column < 0 || column >= in[3]) continue;
                double& x_at = x_plane[row * in[3] + column];
                if (kind == Kind::kForward) y_at += x_at * w_plane[at];
                if (kind == Kind::kInput) x_at += y_at * w_plane[at];
                if (kind == Kind::kWeight) w_plane[at] += x_at * y_at;
              }
            }
          }
        }
      });
}

}  // namespace

ThunkOr MakeConvolution(const Task& task) {
  const DType dtype = task.result.shape.dtype;
  if (IsShort(dtype)) return MakeThroughF32(task, MakeConvolution);
  if (task.shape(0).elements() == 0 || task.shape(1).elements() == 0)
    return ThunkOf([out = task.result.slot, bytes = task.result.shape.bytes()](
                       char* const* memory) { std::memset(memory[out], 0, size_t(bytes)); });
  if (dtype == DType::kF32) {
    const Tensors tensors(task);
    const Dims& window = tensors.weight.shape.dims;
    const double flops =
        2.0 * double(tensors.output.shape.elements() * window[1] * window[2] * window[3]);
    const int64_t images = tensors.input.shape.dims[0];
    const bool shared = task.pool.threads() > 1 && images > 1 && flops > kWorthSharing;
    return shared ? ByImages::Make(task, images) : Convolution::Make(task);
  }
  if (dtype == DType::kF64) return MakeSimple(task);
  return Unsupported("{}: there is no convolution of this type", Describe(task));
}

}  // namespace xlaprof::lazy
