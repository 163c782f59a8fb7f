#pragma once
// The exit codes of every command (DESIGN: 0 fine, 1 a gate said no, 2 bad usage or input, 3 the
// machine lacks what was asked for), and how an error becomes one.

#include "base/error.hpp"

namespace trilobite::cli {

inline constexpr int kFine = 0;
inline constexpr int kGateSaidNo = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kMachineLacks = 3;
inline constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells expect

/// Prints "trilobite: <message>" to standard error and returns the code that belongs to the error.
int report_error(const Error& error);

}  // namespace trilobite::cli
