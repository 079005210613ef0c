// KernelIdentity: which kernel of which fusion something is.
#pragma once

#include <cstdint>
#include <string>

#include "base/types.h"

namespace nvfuser {

struct KernelIdentity {
  SchedulerType scheduler = SchedulerType::none;
  int64_t fusion_id = 0;
  int64_t concrete_id = 0;
  int64_t runtime_id = 0;
  int64_t group_id = 0; // the segment

  /// nvfuser_<scheduler>_f<fusion>_c<concrete>_r<runtime>_g<group>
  [[nodiscard]] std::string name() const {
    return std::string("nvfuser_") + enum_name(scheduler) + "_f" + std::to_string(fusion_id) +
           "_c" + std::to_string(concrete_id) + "_r" + std::to_string(runtime_id) + "_g" +
           std::to_string(group_id);
  }
};

} // namespace nvfuser
