#include "core/hurray/validation/sparse_data.hpp"
#include "core/hurray/validation/sparse_walk_check.hpp"

namespace hurray {

Result<void> check_csf_data(const Tensor& tensor, const WorkOptions& options) {
    return validation_detail::check_entries(tensor, options);
}

}  // namespace hurray
