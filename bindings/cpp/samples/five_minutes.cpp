// What README.md shows; run as a test.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

// sample: include
#include <hurray.hpp>
// end sample

namespace {

// sample: write
hurray::Result<void> write_model(const char* path) {
    std::vector<float> weights(6);
    const uint64_t shape[] = {2, 3};
    std::iota(weights.begin(), weights.end(), 0.0f);
    auto tensor = hurray::Tensor::from_container(std::move(weights), shape);
    if (!tensor) return tensor.error();

    auto writer = hurray::FileWriter::create(path, HURRAY_FORMAT_SAFETENSORS);
    if (!writer) return writer.error();
    if (auto done = writer->add("weights", *tensor); !done) return done;
    return writer->finish();  // in one step: a reader sees the old file or the new one
}
// end sample

// sample: read
hurray::Result<float> sum_of(const char* path, std::string_view name) {
    auto file = hurray::File::open(path);
    if (!file) return file.error();
    auto tensor = file->tensor(name);  // mapped, not copied; lives on after the file
    if (!tensor) return tensor.error();
    auto aligned = tensor->copy();  // data in files may be unaligned: bytes, or a copy
    if (!aligned) return aligned.error();
    auto view = aligned->view();
    if (!view) return view.error();
    auto elements = view->as<float>();
    if (!elements) return elements.error();
    return std::accumulate(elements->begin(), elements->end(), 0.0f);
}
// end sample

// sample: release
hurray::Result<hurray::Tensor> over_my_memory(int16_t* samples, uint64_t count, bool& released) {
    hurray::DenseSpec spec;
    spec.element_type = HURRAY_TYPE_INT16;
    spec.shape = {&count, 1};
    return hurray::Tensor::from_host(spec, samples, count * sizeof *samples, [&released] { released = true; });
}
// end sample

// sample: progress
hurray::Result<hurray::Tensor> transposed(const hurray::Tensor& tensor) {
    auto meter = [](uint64_t done, uint64_t total) {
        std::printf("%llu of %llu bytes\n", static_cast<unsigned long long>(done),
                    static_cast<unsigned long long>(total));
        return true;  // false stops the work: HURRAY_ERR_CANCELLED
    };
    hurray::WorkOptions options;
    options.progress = meter;
    return tensor.transcode(HURRAY_LAYOUT_COL_MAJOR, options);
}
// end sample

}  // namespace

int main() {
    const char* folder = std::getenv("TEST_TMPDIR");
    const std::string path = std::string(folder != nullptr ? folder : ".") + "/five_minutes.safetensors";

    // sample: errors
    if (auto done = write_model(path.c_str()); !done) {
        std::fprintf(stderr, "%s: %s\n", done.error().name(), done.error().message());
        return 1;
    }
    // end sample
    const auto sum = sum_of(path.c_str(), "weights");
    if (!sum || *sum != 15.0f) return 1;
    if (sum_of(path.c_str(), "nothing").error().code() != HURRAY_ERR_NOT_FOUND) return 1;

    int16_t samples[4] = {1, 2, 3, 4};
    bool released = false;
    {
        auto tensor = over_my_memory(samples, 4, released);
        if (!tensor || released) return 1;
        auto other = transposed(*tensor);
        if (!other) return 1;
        const uint64_t last[] = {3};
        if (auto element = other->element(last); !element || *element != 4.0) return 1;
    }
    if (!released) return 1;
    std::remove(path.c_str());
    const auto live = hurray::live_handles();
    return live && live->handles == 0 ? 0 : 1;
}
