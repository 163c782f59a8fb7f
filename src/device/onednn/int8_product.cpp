#include "device/onednn/int8_product.hpp"

#include <fmt/format.h>

#include <dnnl.hpp>

#include "device/onednn/onednn_threads.hpp"

namespace trilobite {

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

struct OnednnInt8Product::State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::matmul::primitive_desc description;
  dnnl::matmul primitive;
  dnnl::memory packed;
  dnnl::memory x;
  dnnl::memory out;
  unsigned threads = 1;
};

namespace {

dnnl::memory::desc matrix(size_t rows, size_t columns, Type type, Tag tag) {
  return {
      {static_cast<dnnl::memory::dim>(rows), static_cast<dnnl::memory::dim>(columns)}, type, tag};
}

}  // namespace

OnednnInt8Product::OnednnInt8Product(std::unique_ptr<State> state) : state_(std::move(state)) {}
OnednnInt8Product::~OnednnInt8Product() = default;
OnednnInt8Product::OnednnInt8Product(OnednnInt8Product&&) noexcept = default;
OnednnInt8Product& OnednnInt8Product::operator=(OnednnInt8Product&&) noexcept = default;

Result<OnednnInt8Product> OnednnInt8Product::create(const Int8ProductSize& size,
                                                    std::span<const int8_t> weights,
                                                    unsigned threads) {
  try {
    set_openmp_threads(threads);
    auto state = std::make_unique<State>();
    state->threads = threads;
    const auto x = matrix(size.tokens, size.columns, Type::u8, Tag::ab);
    const auto out = matrix(size.tokens, size.rows, Type::s32, Tag::ab);
    const auto any = matrix(size.columns, size.rows, Type::s8, Tag::any);
    state->description = {dnnl::matmul::desc(x, any, out), state->engine};
    state->primitive = dnnl::matmul(state->description);
    // Our rows of weights are the columns of the library's second operand.
    const auto given = matrix(size.columns, size.rows, Type::s8, Tag::ba);
    dnnl::memory plain(given, state->engine, const_cast<int8_t*>(weights.data()));
    state->packed = dnnl::memory(state->description.weights_desc(), state->engine);
    dnnl::reorder(plain, state->packed).execute(state->stream, plain, state->packed);
    state->x = dnnl::memory(x, state->engine, nullptr);
    state->out = dnnl::memory(out, state->engine, nullptr);
    state->stream.wait();
    return OnednnInt8Product(std::move(state));
  } catch (const dnnl::error& error) {
    return fail(fmt::format("oneDNN has no u8 x s8 product of {} x {} x {}: {}", size.tokens,
                            size.rows, size.columns, error.message),
                ErrorKind::environment);
  }
}

void OnednnInt8Product::run(const uint8_t* x, int32_t* out) {
  set_openmp_threads(state_->threads);
  state_->x.set_data_handle(const_cast<uint8_t*>(x));
  state_->out.set_data_handle(out);
  state_->primitive.execute(
      state_->stream,
      {{DNNL_ARG_SRC, state_->x}, {DNNL_ARG_WEIGHTS, state_->packed}, {DNNL_ARG_DST, state_->out}});
  state_->stream.wait();
}

std::string OnednnInt8Product::kernel() const { return state_->description.impl_info_str(); }

}  // namespace trilobite
