// nlohmann_sax FILE reads JSON with nlohmann's SAX parser and counts its objects, but keeps
// nothing. A reader built on this parser has at least this cost.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace {

class Count : public nlohmann::json_sax<nlohmann::json> {
 public:
  long objects = 0, values = 0;
  bool null() override { return Value(); }
  bool boolean(bool) override { return Value(); }
  bool number_integer(number_integer_t) override { return Value(); }
  bool number_unsigned(number_unsigned_t) override { return Value(); }
  bool number_float(number_float_t, const string_t&) override { return Value(); }
  bool string(string_t&) override { return Value(); }
  bool binary(binary_t&) override { return Value(); }
  bool start_object(size_t) override { return ++objects, true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool Value() { return ++values, true; }
};

}  // namespace

int main(int argc, char** argv) {
  const int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) return 2;
  void* map = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  if (map == MAP_FAILED) return 2;
  const char* bytes = static_cast<const char*>(map);
  Count count;
  if (!nlohmann::json::sax_parse(bytes, bytes + info.st_size, &count)) return 2;
  std::printf("{\"objects\": %ld, \"values\": %ld}\n", count.objects, count.values);
}
