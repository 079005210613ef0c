#include "ir/transaction.h"

#include <exception>

namespace nvfuser {

Transaction::Transaction(Fusion* fusion)
    : fusion_(fusion), exceptions_(std::uncaught_exceptions()) {
  if (fusion_ != nullptr) {
    size_ = fusion_->statements_.size();
    counters_ = fusion_->counters_;
  }
}

Transaction::~Transaction() {
  if (std::uncaught_exceptions() > exceptions_) {
    take_back();
  }
}

void Transaction::take_back() {
  if (fusion_ != nullptr) {
    fusion_->take_back(size_, counters_);
  }
}

} // namespace nvfuser
