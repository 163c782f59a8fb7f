// Writes the seeds of fuzz_gguf: whole models of every architecture, small enough for a fuzzer.
//   gguf_seeds FOLDER

#include <fmt/format.h>

#include "base/rng.hpp"
#include "gguf/writer.hpp"
#include "modelfile/model_shape.hpp"
#include "modelfile/tensor_codec.hpp"

namespace {

using namespace trilobite;
using modelfile::ModelShape;
using modelfile::TensorRole;

constexpr uint32_t kTokens = 6;

void write_metadata(const ModelShape& shape, gguf::Writer& writer) {
  const auto key = [&](const char* name) { return shape.architecture + "." + name; };
  writer.set_text("general.architecture", shape.architecture);
  writer.set_u32(key("context_length"), shape.context);
  writer.set_u32(key("embedding_length"), shape.width);
  writer.set_u32(key("block_count"), shape.layers);
  writer.set_u32(key("feed_forward_length"), shape.feed_forward);
  writer.set_u32(key("attention.head_count"), shape.heads);
  writer.set_u32(key("attention.head_count_kv"), shape.kv_heads);
  writer.set_f32(modelfile::epsilon_key(shape.architecture), shape.epsilon);
  writer.set_text("tokenizer.ggml.model", "llama");
  writer.set_texts("tokenizer.ggml.tokens",
                   std::vector<std::string>{"<unk>", "<s>", "</s>", "a", "b", "ab"});
  writer.set_floats("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, -2, -3, -1});
  writer.set_i32s("tokenizer.ggml.token_type", std::vector<int32_t>{2, 3, 3, 1, 1, 1});
}

Result<void> write_seed(const ModelShape& shape, gguf::TensorType linear, const Path& path) {
  gguf::Writer writer;
  write_metadata(shape, writer);
  const auto tensors = modelfile::expected_tensors(shape);
  const auto type_of = [&](const modelfile::ExpectedTensor& tensor) {
    return tensor.role == TensorRole::linear ? linear : gguf::TensorType::f32;
  };
  for (const auto& tensor : tensors) {
    auto declared = writer.declare({tensor.name, tensor.dimensions, type_of(tensor)});
    if (!declared) return declared;
  }
  if (auto started = writer.start(path); !started) return started;
  for (size_t i = 0; i < tensors.size(); ++i) {
    size_t count = 1;
    for (const auto dimension : tensors[i].dimensions) count *= dimension;
    std::vector<float> values(count);
    for (size_t k = 0; k < count; ++k) values[k] = normal_at(1, i, k);
    const auto bytes =
        modelfile::encode_rows(type_of(tensors[i]), values, tensors[i].dimensions[0]);
    if (!bytes) return fail_from(bytes);
    if (auto done = writer.append(std::as_bytes(std::span(*bytes))); !done) return done;
  }
  return writer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  struct Seed {
    const char* architecture;
    uint32_t width;
    gguf::TensorType linear;
  };
  for (const auto& [architecture, width, linear] :
       {Seed{"llama", 8, gguf::TensorType::f16}, Seed{"bitnet-b1.58", 4, gguf::TensorType::f32},
        Seed{"gpt2", 4, gguf::TensorType::bf16}, Seed{"bert", 4, gguf::TensorType::f32},
        Seed{"llama", 32, gguf::TensorType::q4_0}}) {
    const ModelShape shape{.architecture = architecture,
                           .context = 8,
                           .width = width,
                           .layers = 1,
                           .heads = 2,
                           .kv_heads = 2,
                           .feed_forward = width,
                           .vocabulary = kTokens};
    const auto name = fmt::format("{}-{}.gguf", architecture, gguf::name_of(linear));
    if (const auto done = write_seed(shape, linear, Path(argv[1]) / name); !done) {
      fmt::print(stderr, "{}\n", done.error().message());
      return 1;
    }
  }
  return 0;
}
