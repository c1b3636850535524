#include <algorithm>

#include "base/escape.h"
#include "base/numbers.h"
#include "serve/client.h"

namespace xlaprof {

absl::Status CheckAddress(std::string_view address) {
  const size_t colon = address.rfind(':');
  bool is_good = colon != address.npos && colon > 0 && colon + 1 < address.size();
  if (is_good) {
    const std::string_view host = address.substr(0, colon);
    const std::optional<int> port = ParseInteger<int>(address.substr(colon + 1));
    is_good = port && *port > 0 && *port <= 65535;
    // The host is a name, an IPv4 address, or an IPv6 address in brackets. It has no
    // scheme, such as "unix:".
    const bool is_v6 = host.starts_with('[') && host.ends_with(']');
    is_good = is_good && std::all_of(host.begin(), host.end(), [&](char c) {
                return std::isalnum(uint8_t(c)) || c == '.' || c == '-' || c == '_' ||
                       (is_v6 && (c == ':' || c == '[' || c == ']' || c == '%'));
              });
  }
  if (is_good) return absl::OkStatus();
  return Invalid("{}: is not HOST:PORT, such as localhost:9012 or [::1]:9012", Printable(address));
}

}  // namespace xlaprof
