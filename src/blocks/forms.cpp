#include "shoal/blocks/forms.hpp"

#include "shoal/core/error.hpp"
#include "shoal/core/kinds.hpp"

namespace shoal {
namespace {

constexpr Named<BlockForm> kForms[] = {{BlockForm::automatic, "auto"},
                                       {BlockForm::threads, "threads"},
                                       {BlockForm::resident, "resident"},
                                       {BlockForm::kernels, "kernels"}};
constexpr Named<Fusion> kFusions[] = {{Fusion::none, "none"}, {Fusion::a, "a"}, {Fusion::b, "b"}, {Fusion::c, "c"}};

}  // namespace

const char* name(BlockForm form) { return name_of(kForms, form); }
const char* name(Fusion fusion) { return name_of(kFusions, fusion); }
BlockForm parse_block_form(const std::string& text) { return kind_of(kForms, "form", text); }
Fusion parse_fusion(const std::string& text) { return kind_of(kFusions, "fusion", text); }

BlockForm resolve(BlockForm form, bool on_gpu) {
  if (form == BlockForm::automatic) return on_gpu ? BlockForm::resident : BlockForm::threads;
  if ((form == BlockForm::threads) == on_gpu) {
    throw UsageError(std::string("form ") + name(form) + " is for " + (on_gpu ? "CPU threads" : "GPUs") +
                     ", and this run is on " + (on_gpu ? "GPUs" : "CPU threads") + "; use --form auto");
  }
  return form;
}

}  // namespace shoal
