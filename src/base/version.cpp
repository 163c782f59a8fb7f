#include "trilobite/version.hpp"

namespace trilobite {

std::string_view version() { return TRILOBITE_VERSION; }

}  // namespace trilobite
