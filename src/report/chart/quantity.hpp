#pragma once
// What an axis counts, and how a person reads a value of it.

#include <string>

namespace trilobite::chart {

enum class Quantity { plain, count, time_ns, bytes, rate, ratio, change, decibel };

/// "1.23 ms", "64 KiB", "12.3 GFLOP/s", "1.30x", "+3.2 %": `unit` names what a rate is of.
std::string value_text(double value, Quantity quantity, const std::string& unit = "");

/// Round figures of bytes are powers of two, of everything else powers of ten.
bool counts_in_binary(Quantity quantity);

}  // namespace trilobite::chart
