#include "profiler/import/source_hashes.h"

#include <openssl/evp.h>
#include <sched.h>

#include <chrono>

#include "core/base/escape.h"

namespace xlaprof {
namespace {

// Less than a thread is worth.
constexpr size_t kSmallBytes = size_t(1) << 20;
constexpr size_t kPieceBytes = size_t(1) << 18;
// A core that always has something to do, though it be of the lowest class, takes no work over from
// another: two threads that were woken on one core would stay there. So there are pauses while
// others work, after 2 ms or so.
constexpr int kPiecesAtOnce = 10;
constexpr std::chrono::microseconds kPause(500);

}  // namespace

class SourceHashes::Sha256 {
 public:
  explicit Sha256(const InputFile& file) : file_(file) {
    EVP_DigestInit_ex(context_, EVP_sha256(), nullptr);
  }
  ~Sha256() { EVP_MD_CTX_free(context_); }

  // One piece more. False: there is none.
  bool Step() {
    const std::string_view piece = file_.DiskPiece(at_, room_);
    EVP_DigestUpdate(context_, piece.data(), piece.size());
    at_ += piece.size();
    return !piece.empty();
  }
  // Nothing where not all of the file could be read.
  OptText Digest() {
    if (at_ != file_.disk().size()) return {};
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_, digest, &size);
    return Hex({reinterpret_cast<const char*>(digest), size});
  }

 private:
  const InputFile& file_;
  EVP_MD_CTX* const context_ = EVP_MD_CTX_new();
  std::vector<char> room_ = std::vector<char>(kPieceBytes);
  size_t at_ = 0;
};

SourceHashes::SourceHashes() = default;
SourceHashes::~SourceHashes() { Stop(); }

void SourceHashes::Add(int64_t source_id, std::shared_ptr<const InputFile> file) {
  Finish();
  source_id_ = source_id;
  file_ = std::move(file);
  hash_ = std::make_unique<Sha256>(*file_);
  if (file_->disk().size() < kSmallBytes) return;
  stopping_ = false;
  thread_ = std::thread([this] {
    // On Linux, of this thread. Of the lowest nice value, it would keep a core for milliseconds
    // from a thread that another one wakes.
    const sched_param none{};
    sched_setscheduler(0, SCHED_IDLE, &none);
    for (int pieces = 1; !stopping_ && hash_->Step(); ++pieces) {
      if (pieces % kPiecesAtOnce == 0 && !hurries_) std::this_thread::sleep_for(kPause);
    }
  });
}

void SourceHashes::Stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void SourceHashes::Finish() {
  if (file_ == nullptr) return;
  // What is left is urgent now, and on a busy machine the thread might never get to it.
  Stop();
  while (hash_->Step()) {
  }
  done_.emplace_back(source_id_, hash_->Digest());
  hash_ = nullptr;
  file_ = nullptr;
}

absl::Status SourceHashes::Write(Store& store) {
  Finish();
  for (const auto& [source_id, sha256] : std::exchange(done_, {}))
    XP_TRY(store.Run("UPDATE source SET sha256 = ?2 WHERE id = ?1", source_id, sha256));
  return absl::OkStatus();
}

}  // namespace xlaprof
