// Which schemes there are: names, facts, and which rule and layout each is made of.

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/parse_number.hpp"
#include "quant/affine.hpp"
#include "quant/bitnet.hpp"
#include "quant/byte_order.hpp"
#include "quant/gguf_block.hpp"
#include "quant/i2s.hpp"
#include "quant/scheme.hpp"
#include "quant/ternary_packing.hpp"

namespace trilobite::quant {
namespace {

constexpr float kLargestF32 = std::numeric_limits<float>::max();

// ---- floats

template <typename T>
struct FloatCodec {
  static float widen(T value) { return value.to_float(); }
  static T narrow(float value) { return T::from(value); }
};
template <>
struct FloatCodec<float> {
  static float widen(float value) { return value; }
  static float narrow(float value) { return value; }
};

template <typename T>
Scheme float_scheme(std::string name, std::string what, float largest) {
  return {.name = std::move(name),
          .what = std::move(what),
          .granularity = Granularity::none,
          .bits_per_weight = 8.0 * sizeof(T),
          .largest_magnitude = largest,
          .size = [](size_t rows, size_t cols) { return StoredSize{sizeof(T) * rows * cols}; },
          .encode =
              [](MatrixView weights, QuantizedMatrix& packed) {
                uint8_t* to = packed.bytes.data();
                for (const float w : weights.values()) {
                  store_bytes(to, FloatCodec<T>::narrow(w));
                  to += sizeof(T);
                }
              },
          .decode = [](const QuantizedView& packed, std::span<float> values) -> Result<void> {
            const uint8_t* from = packed.bytes.data();
            for (float& value : values) {
              value = FloatCodec<T>::widen(load_bytes<T>(from));
              from += sizeof(T);
            }
            return {};
          }};
}

// ---- BitNet, our own packings

Result<void> restore_ternary(const Result<TernaryMatrix>& ternary, std::span<float> values) {
  if (!ternary) return fail_from(ternary);
  dequantize_ternary(*ternary, values);
  return {};
}

struct TernaryChoice {
  TernaryForm form;
  bool per_channel;
};

Result<TernaryMatrix> unpack(TernaryForm form, const QuantizedView& packed) {
  auto codes = unpack_ternary(form, packed);
  if (!codes) return fail_from(codes);
  return TernaryMatrix{.rows = packed.rows,
                       .cols = packed.cols,
                       .codes = *std::move(codes),
                       .scales = {packed.scales.begin(), packed.scales.end()}};
}

Scheme bitnet_scheme(std::string name, std::string what, TernaryChoice choice) {
  return {.name = std::move(name),
          .what = std::move(what),
          .granularity = choice.per_channel ? Granularity::channel : Granularity::tensor,
          .code_bits = 2,
          .bits_per_weight = choice.form == TernaryForm::two_bit ? 2.0 : 1.6,
          .largest_magnitude = kLargestF32,
          .size =
              [choice](size_t rows, size_t cols) {
                return StoredSize{.bytes = rows * packed_row_bytes(choice.form, cols),
                                  .scales = choice.per_channel ? rows : 1};
              },
          .encode =
              [choice](MatrixView weights, QuantizedMatrix& packed) {
                auto ternary = quantize_absmean(weights, {.per_channel = choice.per_channel});
                packed.bytes = pack_ternary(ternary, choice.form);
                packed.scales = std::move(ternary.scales);
              },
          .decode =
              [choice](const QuantizedView& packed, std::span<float> values) {
                return restore_ternary(unpack(choice.form, packed), values);
              }};
}

// ---- I2_S

Scheme i2s_scheme(std::string name, I2sLayout layout) {
  const bool four_rows = layout == I2sLayout::x86_four_rows;
  const size_t block = layout == I2sLayout::arm_block64 ? 64 : 128;
  return {
      .name = std::move(name),
      .what = fmt::format("bitnet.cpp's I2_S, layout {}", name_of(layout)),
      .granularity = Granularity::tensor,
      .code_bits = 2,
      .bits_per_weight = 2.0,
      .row_multiple = four_rows ? size_t{4} : size_t{1},
      .column_multiple = four_rows ? 1 : block,
      .largest_magnitude = kLargestF32,
      .size = [](size_t rows, size_t cols) { return StoredSize{rows * cols / 4 + kI2sTailBytes}; },
      .encode =
          [layout](MatrixView weights, QuantizedMatrix& packed) {
            packed.bytes = pack_i2s(quantize_by_sign(weights), layout);
          },
      .decode =
          [layout](const QuantizedView& packed, std::span<float> values) {
            return restore_ternary(unpack_i2s(layout, packed), values);
          }};
}

// ---- integers

std::string affine_name(const AffineRule& rule) {
  std::string name = fmt::format("int{}", rule.bits);
  if (rule.span == AffineSpan::channel) name += "-channel";
  if (rule.span == AffineSpan::group) name += fmt::format("-g{}", rule.group_size);
  return rule.symmetric ? name : name + "-asym";
}

Granularity granularity_of(AffineSpan span) {
  switch (span) {
    case AffineSpan::tensor: return Granularity::tensor;
    case AffineSpan::channel: return Granularity::channel;
    case AffineSpan::group: return Granularity::group;
  }
  return Granularity::none;
}

std::string affine_what(const AffineRule& rule) {
  const auto per = rule.span == AffineSpan::group ? fmt::format("{} columns", rule.group_size)
                                                  : std::string(name_of(granularity_of(rule.span)));
  return fmt::format("{}-bit integers, {}, one f32 scale per {}", rule.bits,
                     rule.symmetric ? "symmetric" : "with a zero point", per);
}

Scheme affine_scheme(const AffineRule& rule) {
  const bool grouped = rule.span == AffineSpan::group;
  const double scale_bits = rule.symmetric ? 32 : 40;
  return {.name = affine_name(rule),
          .what = affine_what(rule),
          .granularity = granularity_of(rule.span),
          .block = grouped ? rule.group_size : 0,
          .code_bits = rule.bits,
          .bits_per_weight =
              rule.bits + (grouped ? scale_bits / static_cast<double>(rule.group_size) : 0.0),
          // Twice this, the widest range there can be, is still finite.
          .largest_magnitude = kLargestF32 / 2,
          .size = [rule](size_t rows, size_t cols) { return affine_size(rule, rows, cols); },
          .encode = [rule](MatrixView weights,
                           QuantizedMatrix& packed) { quantize_affine(rule, weights, packed); },
          .decode =
              [rule](const QuantizedView& packed, std::span<float> values) {
                return dequantize_affine(rule, packed, values);
              }};
}

// ---- GGUF blocks

Scheme block_scheme(const BlockFormat& format) {
  return {
      .name = std::string(format.name),
      .what = fmt::format("GGUF blocks of {} weights in {} bytes", format.columns, format.bytes),
      .granularity = Granularity::block,
      .block = format.columns,
      .code_bits = format.code_bits,
      .bits_per_weight =
          8.0 * static_cast<double>(format.bytes) / static_cast<double>(format.columns),
      .column_multiple = format.columns,
      .largest_magnitude = format.largest_magnitude,
      .size =
          [format](size_t rows, size_t cols) {
            return StoredSize{rows * (cols / format.columns) * format.bytes};
          },
      .encode = [format](
                    MatrixView weights,
                    QuantizedMatrix& packed) { quantize_blocks(format, weights, packed.bytes); },
      .decode = [format](
                    const QuantizedView& packed,
                    std::span<float> values) { return dequantize_blocks(format, packed, values); }};
}

// ---- the table

void add_integers(std::vector<Scheme>& table, unsigned bits) {
  for (const bool symmetric : {true, false}) {
    table.push_back(affine_scheme({.bits = bits, .symmetric = symmetric}));
    table.push_back(
        affine_scheme({.bits = bits, .symmetric = symmetric, .span = AffineSpan::channel}));
    for (const size_t group : {32u, 64u, 128u}) {
      table.push_back(affine_scheme(
          {.bits = bits, .symmetric = symmetric, .span = AffineSpan::group, .group_size = group}));
    }
  }
}

std::vector<Scheme> make_table() {
  std::vector<Scheme> table;
  table.push_back(float_scheme<float>("fp32", "32-bit floats, unchanged", kLargestF32));
  table.push_back(float_scheme<Float16>("fp16", "IEEE 16-bit floats", 65504.0f));
  // The largest bf16; weights just above would round to infinity.
  table.push_back(float_scheme<BFloat16>("bf16", "upper halves of 32-bit floats", 0x1.FEp127f));
  const auto two_bit = TernaryForm::two_bit;
  const auto five_trits = TernaryForm::five_trits_a_byte;
  table.push_back(
      bitnet_scheme("bitnet", "BitNet b1.58 absmean, 4 weights a byte", {two_bit, false}));
  table.push_back(
      bitnet_scheme("bitnet-channel", "the same with one scale per row", {two_bit, true}));
  table.push_back(
      bitnet_scheme("bitnet-1.6", "BitNet b1.58 absmean, 5 weights a byte", {five_trits, false}));
  table.push_back(
      bitnet_scheme("bitnet-1.6-channel", "the same with one scale per row", {five_trits, true}));
  table.push_back(i2s_scheme("i2_s", I2sLayout::x86_block128));
  table.push_back(i2s_scheme("i2_s-four-rows", I2sLayout::x86_four_rows));
  table.push_back(i2s_scheme("i2_s-arm", I2sLayout::arm_block64));
  for (const auto& format : ternary_block_formats()) table.push_back(block_scheme(format));
  add_integers(table, 8);
  add_integers(table, 4);
  for (const auto& format : simple_block_formats()) table.push_back(block_scheme(format));
  for (const auto& format : k_block_formats()) table.push_back(block_scheme(format));
  return table;
}

/// "int4-g48-asym" and the like; nothing when the name is not of that form.
std::optional<Scheme> grouped_integers(std::string_view name) {
  AffineRule rule{.span = AffineSpan::group};
  if (name.starts_with("int4-g")) {
    rule.bits = 4;
  } else if (!name.starts_with("int8-g")) {
    return std::nullopt;
  }
  name.remove_prefix(6);
  if (name.ends_with("-asym")) {
    rule.symmetric = false;
    name.remove_suffix(5);
  }
  const auto size = parse_int(name);
  if (!size || *size < 1) return std::nullopt;
  rule.group_size = static_cast<size_t>(*size);
  return affine_scheme(rule);
}

}  // namespace

const std::vector<Scheme>& all_schemes() {
  static const std::vector<Scheme> kTable = make_table();
  return kTable;
}

Result<Scheme> find_scheme(std::string_view name) {
  if (name == "f16") name = "fp16";
  if (name == "f32") name = "fp32";
  std::string names;
  for (const auto& scheme : all_schemes()) {
    if (scheme.name == name) return scheme;
    names += (names.empty() ? "" : ", ") + scheme.name;
  }
  if (auto grouped = grouped_integers(name)) return *std::move(grouped);
  return fail(fmt::format("unknown quantization scheme '{}'; there are {}", name, names));
}

}  // namespace trilobite::quant
