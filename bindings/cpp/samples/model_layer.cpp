// Runs one layer of a model: y = silu(weight * x + bias). Reads safetensors, GGUF and the other formats; quantized weights are
// dequantized. Called as: model_layer MODEL LAYER, where the model has LAYER.weight and LAYER.bias; prints y, one number a line.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <hurray.hpp>

namespace {

// sample: numbers
// The numbers of a tensor as float32, aligned and one after another, whatever the file holds.
hurray::Result<hurray::Tensor> numbers(const hurray::File& model, const std::string& name) {
    auto tensor = model.tensor(name);
    if (!tensor) return tensor;
    const auto quantization = tensor->descriptor().and_then([](auto descriptor) { return descriptor.quantization(); });
    if (!quantization) return quantization.error();
    if (quantization->present != 0) return tensor->dequantize(HURRAY_TYPE_FLOAT32);
    return tensor->copy();
}
// end sample

// sample: layer
hurray::Result<std::vector<float>> run_layer(const hurray::Tensor& weight, const hurray::Tensor& bias,
                                             const std::vector<float>& x) {
    const auto w = weight.view();
    if (!w) return w.error();
    const auto elements = w->as<float>();  // refused unless they are float32, contiguous and aligned
    if (!elements) return elements.error();
    const auto b = bias.view();
    if (!b) return b.error();
    const auto offsets = b->as<float>();
    if (!offsets) return offsets.error();
    const auto shape = w->shape();
    const auto columns = x.size();
    if (shape.size() != 2 || shape[1] != static_cast<std::int64_t>(columns) ||
        shape[0] != static_cast<std::int64_t>(offsets->size())) {
        return hurray::Error(HURRAY_ERR_INVALID_ARGUMENT, "weight, bias and input do not fit one another");
    }
    std::vector<float> y(offsets->size());
    for (std::size_t row = 0; row < y.size(); ++row) {
        float sum = (*offsets)[row];
        const auto line = elements->subspan(row * columns, columns);
        for (std::size_t i = 0; i < columns; ++i) sum += line[i] * x[i];
        y[row] = sum / (1 + std::exp(-sum));
    }
    return y;
}
// end sample

hurray::Result<void> run(const char* path, const std::string& layer) {
    if (auto done = hurray::check_version(); !done) return done;
    // sample: model
    const auto model = hurray::File::open(path);
    if (!model) return model.error();
    const auto weight = numbers(*model, layer + ".weight");
    if (!weight) return weight.error();
    const auto bias = numbers(*model, layer + ".bias");
    if (!bias) return bias.error();
    // end sample
    const auto view = weight->view();
    if (!view) return view.error();
    std::vector<float> x(view->shape().empty() ? 0 : static_cast<std::size_t>(view->shape().back()));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) / 4 - 0.75F;
    const auto y = run_layer(*weight, *bias, x);
    if (!y) return y.error();
    for (const float value : *y) std::printf("%.9g\n", static_cast<double>(value));
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: model_layer MODEL LAYER\n");
        return 2;
    }
    if (const auto done = run(argv[1], argv[2]); !done) {
        std::fprintf(stderr, "%s: %s\n", done.error().name(), done.error().message());
        return 1;
    }
    return 0;
}
