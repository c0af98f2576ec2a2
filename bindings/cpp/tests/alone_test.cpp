// Each header compiles alone, in every standard (BUILD.bazel); without exceptions a callback still works.
#include <hurray.hpp>

int main() {
    static char data[64];
    bool released = false;
    {
        const std::uint64_t shape[] = {64};
        hurray::DenseSpec spec;
        spec.element_type = HURRAY_TYPE_INT8;
        spec.shape = shape;
        const auto tensor = hurray::Tensor::from_host(spec, data, sizeof data, [&] { released = true; });
        if (!tensor || released) return 1;
        const auto keep_on = [](std::uint64_t, std::uint64_t) { return true; };
        hurray::WorkOptions options;
        options.progress = keep_on;
        if (!tensor->transcode(HURRAY_LAYOUT_COO, options)) return 1;
    }
    return released ? 0 : 1;
}
