#include "host/explain.h"

#include <iostream>
#include <sstream>

#include "base/options.h"
#include "host/tuned_schedules.h"
#include "ir/all_nodes.h"
#include "schedule/table.h"

namespace nvfuser::host {
namespace {

/// "pointwise", "trivial schedule"
std::string runner_of(const PieceReport& report) {
  const Way& way = report.way;
  switch (way.kind) {
    case Way::Kind::View: return "view, no kernel";
    case Way::Kind::Scheduled: return enum_name(way.params->scheduler_type());
    case Way::Kind::Trivial: return "trivial schedule";
    case Way::Kind::ByHand: return "schedule of the user";
    case Way::Kind::Given:
      if (report.origin == kTunedOrigin) {
        return "schedule found by tuning";
      }
      return report.origin.starts_with('<') ? "schedule of the user" // not from a file
                                            : "schedule of the user in " + report.origin;
    case Way::Kind::Evaluated: return "evaluated by PyTorch";
  }
  return "";
}

/// Headline and node of an error, in one line.
std::string text_of(const Refusal& refusal) {
  const ErrorReport& report = refusal.report;
  const std::string text = report.headline.text() +
                           (report.node.empty() ? std::string() : " (" + report.node.text() + ")");
  std::string line;
  for (const char letter : text) {
    const bool is_space = letter == '\n' || letter == ' ';
    if (!is_space || (!line.empty() && line.back() != ' ')) {
      line += is_space ? ' ' : letter;
    }
  }
  return line;
}

/// The refusals of the schedulers that do not take a segment.
const std::vector<Rejection>& rejections_of(
    const PieceReport& report, size_t segment, const SegmentedFusion* cut) {
  const bool is_of_cut = cut != nullptr && segment < cut->groups().size();
  return is_of_cut ? cut->groups()[segment].rejections : report.rejections;
}

/// Under the names that the user's program gave them, as far as a plan knows them.
std::vector<const TensorView*> outputs_of(
    const PieceReport& report, size_t segment, const SegmentedFusion* cut) {
  if (cut != nullptr && segment < cut->groups().size()) {
    const std::vector<TensorView*>& outputs = cut->groups()[segment].outputs;
    return {outputs.begin(), outputs.end()};
  }
  std::vector<const TensorView*> outputs;
  for (const Val* output : report.fusion->outputs()) {
    if (output->is_tensor()) {
      outputs.push_back(static_cast<const TensorView*>(output));
    }
  }
  return outputs;
}

void print_title(
    std::ostream& out, const PieceReport& report, const std::vector<const TensorView*>& outputs) {
  size_t count = 0;
  for (const Expr* expr : report.fusion->exprs()) {
    count += expr->output(0)->is_tensor() ? 1 : 0;
  }
  out << runner_of(report) << ", " << count << (count == 1 ? " expression" : " expressions")
      << ", makes ";
  const char* separator = "";
  for (const TensorView* output : outputs) {
    out << separator << segment::name_of(output);
    separator = ", ";
  }
  out << "\n";
}

void print_kernel(std::ostream& out, const Way& way) {
  if (way.kernel == nullptr) {
    return;
  }
  out << "  kernel " << way.kernel->identity().name();
  if (const auto code = way.kernel->last_compiled()) {
    out << ", as machine code " << code->function_name();
  }
  const LaunchParams launch = way.kernel->last_launch();
  const auto dims = [&](const char* name, int64_t x, int64_t y, int64_t z) {
    out << name << x << " x " << y << " x " << z;
  };
  dims(", grid ", launch.gdimx(), launch.gdimy(), launch.gdimz());
  dims(", block ", launch.bdimx(), launch.bdimy(), launch.bdimz());
  out << "\n";
}

/// The lines of the params between the first and the last one. A kernel serves sizes that lead to
/// other grids than the params have, which were made for the first ones: the last launch counts.
void print_params(std::ostream& out, const Way& way) {
  if (way.params == nullptr) {
    return;
  }
  const std::unique_ptr<HeuristicParams> params = way.params->clone();
  const LaunchParams launch = way.kernel == nullptr ? LaunchParams() : way.kernel->last_launch();
  if (launch.is_any_set()) {
    params->lparams = launch;
  }
  std::istringstream lines(params->to_string());
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && !line.starts_with("=====")) {
      out << "    " << line << "\n";
    }
  }
}

} // namespace

std::string explain(const std::vector<PieceReport>& reports, const SegmentedFusion* cut) {
  std::ostringstream out;
  for (size_t i = 0; i < reports.size(); ++i) {
    const PieceReport& report = reports[i];
    out << "segment " << i << ": ";
    print_title(out, report, outputs_of(report, i, cut));
    print_kernel(out, report.way);
    print_params(out, report.way);
    if (cut != nullptr && i < cut->groups().size()) {
      for (const std::string& note : cut->notes_on(i)) {
        out << "  " << note << "\n";
      }
    }
    for (const Rejection& rejection : rejections_of(report, i, cut)) {
      out << "  not " << enum_name(rejection.scheduler) << ": " << text_of(rejection.refusal)
          << "\n";
    }
    for (const RefusedWay& refused : report.refused) {
      const bool is_scheduled = refused.kind == Way::Kind::Scheduled;
      out << "  tried: " << (is_scheduled ? enum_name(refused.scheduler) : to_string(refused.kind))
          << ": " << text_of(refused.refusal.refusal) << "\n";
    }
  }
  return out.str();
}

void dump_schedulers(const std::vector<PieceReport>& reports, const SegmentedFusion* cut) {
  for (size_t i = 0; i < reports.size(); ++i) {
    if (has_option(DumpOption::SchedulerVerbose)) {
      for (const Rejection& rejection : rejections_of(reports[i], i, cut)) {
        std::cout << schedule::rejection_text(rejection.scheduler, rejection.refusal) << "\n";
      }
      std::cout << "segment " << i << ": " << runner_of(reports[i]) << std::endl;
    }
    if (has_option(DumpOption::SchedulerParams) && reports[i].way.params != nullptr) {
      std::cout << reports[i].way.params->to_string() << std::flush;
    }
  }
}

} // namespace nvfuser::host
