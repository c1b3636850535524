#include "analyzers/run/user_code.h"

#include <algorithm>
#include <array>
#include <span>

namespace xlaprof {
namespace {

// Files of torch, torch_xla and Python from which ops are recorded. A location only has the
// basename.
constexpr std::array<std::string_view, 62> kLibraryFiles = {"__init__.py",
                                                            "_api.py",
                                                            "_contextlib.py",
                                                            "_functional.py",
                                                            "_tensor.py",
                                                            "activation.py",
                                                            "adadelta.py",
                                                            "adagrad.py",
                                                            "adam.py",
                                                            "adamax.py",
                                                            "adamw.py",
                                                            "asgd.py",
                                                            "batchnorm.py",
                                                            "checkpoint.py",
                                                            "clip_grad.py",
                                                            "container.py",
                                                            "conv.py",
                                                            "contextlib.py",
                                                            "distance.py",
                                                            "distributed.py",
                                                            "distributions.py",
                                                            "dropout.py",
                                                            "dynamo_bridge.py",
                                                            "eval_frame.py",
                                                            "flatten.py",
                                                            "functional.py",
                                                            "function.py",
                                                            "functools.py",
                                                            "grad_scaler.py",
                                                            "graph.py",
                                                            "instancenorm.py",
                                                            "init.py",
                                                            "lbfgs.py",
                                                            "linear.py",
                                                            "loss.py",
                                                            "lr_scheduler.py",
                                                            "module.py",
                                                            "nadam.py",
                                                            "normalization.py",
                                                            "optimizer.py",
                                                            "parallel_loader.py",
                                                            "parameter.py",
                                                            "pixelshuffle.py",
                                                            "pooling.py",
                                                            "profiler.py",
                                                            "radam.py",
                                                            "rmsprop.py",
                                                            "rnn.py",
                                                            "rprop.py",
                                                            "sgd.py",
                                                            "sparse.py",
                                                            "stacktrace.py",
                                                            "swa_utils.py",
                                                            "syncfree.py",
                                                            "threading.py",
                                                            "torch_xla.py",
                                                            "transformer.py",
                                                            "upsampling.py",
                                                            "variable.py",
                                                            "xla_model.py",
                                                            "xla_multiprocessing.py",
                                                            "gradient_clipping.py"};

// Files of JAX whose functions run in each call of a jitted function or operation.
constexpr std::array<std::string_view, 51> kJaxFiles = {"<unknown>",
                                                        "_array_api.py",
                                                        "api.py",
                                                        "api_util.py",
                                                        "array.py",
                                                        "array_constructors.py",
                                                        "array_creation.py",
                                                        "array_methods.py",
                                                        "basearray.py",
                                                        "compiler.py",
                                                        "core.py",
                                                        "custom_derivatives.py",
                                                        "deprecations.py",
                                                        "dispatch.py",
                                                        "dtypes.py",
                                                        "effects.py",
                                                        "einsum.py",
                                                        "indexing.py",
                                                        "jaxpr_util.py",
                                                        "lax.py",
                                                        "lax_numpy.py",
                                                        "linear_util.py",
                                                        "literals.py",
                                                        "lru_cache.py",
                                                        "mlir.py",
                                                        "named_sharding.py",
                                                        "op_shardings.py",
                                                        "partial_eval.py",
                                                        "partition_spec.py",
                                                        "pjit.py",
                                                        "prng.py",
                                                        "profiler.py",
                                                        "pxla.py",
                                                        "reductions.py",
                                                        "scalar_types.py",
                                                        "setops.py",
                                                        "sharding.py",
                                                        "sharding_impls.py",
                                                        "slicing.py",
                                                        "source_info_util.py",
                                                        "stages.py",
                                                        "tensor_contractions.py",
                                                        "threefry2x32.py",
                                                        "traceback_util.py",
                                                        "tree_util.py",
                                                        "ufunc_api.py",
                                                        "ufuncs.py",
                                                        "util.py",
                                                        "vectorize.py",
                                                        "xla_bridge.py",
                                                        "xla_metadata_lib.py"};

// Files of NumPy, Pillow and Python that loaders and loops call often.
constexpr std::array<std::string_view, 42> kHostLibraryFiles = {"Image.py",
                                                                "ImageChops.py",
                                                                "ImageFile.py",
                                                                "ImageOps.py",
                                                                "_collections_abc.py",
                                                                "_core.py",
                                                                "_linalg.py",
                                                                "_methods.py",
                                                                "_stride_tricks_impl.py",
                                                                "abc.py",
                                                                "arraysetops.py",
                                                                "codecs.py",
                                                                "copy.py",
                                                                "decoder.py",
                                                                "einsumfunc.py",
                                                                "encoder.py",
                                                                "enum.py",
                                                                "fromnumeric.py",
                                                                "function_base.py",
                                                                "genericpath.py",
                                                                "getlimits.py",
                                                                "gzip.py",
                                                                "index_tricks.py",
                                                                "linalg.py",
                                                                "multiarray.py",
                                                                "nanfunctions.py",
                                                                "numeric.py",
                                                                "numerictypes.py",
                                                                "pathlib.py",
                                                                "pickle.py",
                                                                "posixpath.py",
                                                                "queue.py",
                                                                "random.py",
                                                                "selectors.py",
                                                                "shape_base.py",
                                                                "socket.py",
                                                                "stride_tricks.py",
                                                                "subprocess.py",
                                                                "tempfile.py",
                                                                "twodim_base.py",
                                                                "typing.py",
                                                                "zipfile.py"};

// Packages whose files PyTorch's profiler records without the folder of installed packages.
constexpr std::array<std::string_view, 24> kPackages = {
    "PIL",       "accelerate",  "albumentations", "cv2",         "datasets",
    "diffusers", "einops",      "flax",           "jax",         "joblib",
    "lightning", "numpy",       "optax",          "pandas",      "pytorch_lightning",
    "scipy",     "sklearn",     "tensorflow",     "timm",        "torch",
    "torch_xla", "torchvision", "tqdm",           "transformers"};

bool Has(std::span<const std::string_view> files, std::string_view name) {
  return std::ranges::find(files, name) != files.end();
}

bool IsLibraryPath(std::string_view file) {
  for (std::string_view part :
       {"/site-packages/", "/dist-packages/", "/lib/python", "\\site-packages\\"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return file.starts_with('<');
}

}  // namespace

absl::StatusOr<UserCode> UserCode::Of(const Run& run) {
  const Store& store = run.store();
  UserCode code;
  XP_TRY(store.Each(
      "SELECT DISTINCT coalesce(function, ''), file FROM frame WHERE is_user = 1 AND file IS NOT "
      "NULL UNION "
      "SELECT coalesce(function, ''), file FROM site WHERE file IS NOT NULL ORDER BY 1, 2",
      [&](std::string function, std::string file) {
        if (IsLibraryPath(file)) return;
        const std::string name(SourcePlace{.file = file}.basename());
        code.by_function_[function + "@" + name].insert(file);
        code.user_files_.insert(name);
      }));
  return code;
}

bool UserCode::IsUser(const SourcePlace& place) const {
  if (place.empty()) return false;
  const std::string name(place.basename());
  if (name.size() != place.file.size()) return !IsLibraryPath(place.file);
  if (place.file.starts_with('<')) return false;
  if (user_files_.contains(name)) return true;
  return !Has(kLibraryFiles, name);
}

bool UserCode::IsUserCall(const SourcePlace& place) const {
  if (!IsUser(place)) return false;
  if (const size_t slash = place.file.find('/'); slash != std::string::npos)
    return !Has(kPackages, std::string_view(place.file).substr(0, slash));
  if (user_files_.contains(place.file)) return true;
  // Packages have modules that begin with _ for their own use, such as SciPy's _filters.py.
  const bool is_private = place.file.starts_with('_') && !place.file.starts_with("__");
  return !is_private && !Has(kJaxFiles, place.file) && !Has(kHostLibraryFiles, place.file);
}

bool IsJaxFile(std::string_view file) { return Has(kJaxFiles, file); }

SourcePlace UserCode::Resolve(SourcePlace place) const {
  if (place.empty() || place.basename().size() != place.file.size()) return place;
  const auto paths = by_function_.find(place.function + "@" + place.file);
  if (paths != by_function_.end() && paths->second.size() == 1) place.file = *paths->second.begin();
  return place;
}

SourcePlace UserCode::Of(std::string_view location) const {
  SourcePlace place = SourcePlace::Parse(location);
  return IsUser(place) ? Resolve(std::move(place)) : SourcePlace();
}

SourcePlace UserCode::Near(const PrintedGraph& graph, int node_index) const {
  std::vector<int> ring = {node_index};
  std::set<int> seen = {node_index};
  for (int distance = 1; distance <= 2; ++distance) {
    std::vector<int> next;
    for (int index : ring) {
      for (const GraphNode::Operand& operand : graph.nodes[index].operands)
        next.push_back(operand.node);
    }
    for (size_t user = 0; user < graph.nodes.size(); ++user) {
      for (const GraphNode::Operand& operand : graph.nodes[user].operands) {
        if (std::find(ring.begin(), ring.end(), operand.node) != ring.end())
          next.push_back(static_cast<int>(user));
      }
    }
    std::erase_if(next, [&](int index) { return !seen.insert(index).second; });
    for (int index : next) {
      if (SourcePlace place = Of(graph.nodes[index]); !place.empty()) return place;
    }
    ring = std::move(next);
  }
  const std::string& scope = graph.nodes[node_index].scope;
  if (scope.empty()) return {};
  for (int distance = 1; distance < static_cast<int>(graph.nodes.size()); ++distance) {
    for (int index : {node_index - distance, node_index + distance}) {
      if (index < 0 || index >= static_cast<int>(graph.nodes.size()) ||
          graph.nodes[index].scope != scope)
        continue;
      if (SourcePlace place = Of(graph.nodes[index]); !place.empty()) return place;
    }
  }
  return {};
}

}  // namespace xlaprof
