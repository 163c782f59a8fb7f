#include "record/record.hpp"

#include <array>
#include <utility>

namespace trilobite {
namespace {

constexpr std::array kStatuses{std::pair{Status::ok, "ok"}, std::pair{Status::skipped, "skipped"},
                               std::pair{Status::failed, "failed"},
                               std::pair{Status::timeout, "timeout"}};

}  // namespace

std::string_view name_of(Status status) { return kStatuses[static_cast<size_t>(status)].second; }

std::optional<Status> status_from_name(std::string_view name) {
  for (const auto& [status, text] : kStatuses) {
    if (name == text) return status;
  }
  return std::nullopt;
}

}  // namespace trilobite
