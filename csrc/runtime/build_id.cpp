#include "runtime/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <span>

namespace nvfuser {
namespace {

struct Search {
  uintptr_t address = 0; // of something in this library
  std::string id;
};

bool contains(const dl_phdr_info& library, uintptr_t address) {
  for (const ElfW(Phdr) & segment : std::span(library.dlpi_phdr, library.dlpi_phnum)) {
    const uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address < begin + segment.p_memsz) {
      return true;
    }
  }
  return false;
}

std::string hexadecimal(const unsigned char* bytes, size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] / 16];
    text += kDigits[bytes[i] % 16];
  }
  return text;
}

/// The note with the hash among those of a segment: a header, its name, its bytes, each padded to
/// words.
std::string find_note(const unsigned char* notes, size_t size) {
  constexpr size_t kWord = 4;
  const auto padded = [](size_t bytes) { return (bytes + kWord - 1) / kWord * kWord; };
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof(note));
    const size_t name = at + sizeof(note);
    const size_t bytes = name + padded(note.n_namesz);
    if (bytes + note.n_descsz > size) {
      break;
    }
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
        std::memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
      return hexadecimal(notes + bytes, note.n_descsz);
    }
    at = bytes + padded(note.n_descsz);
  }
  return "";
}

int visit(dl_phdr_info* library, size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!contains(*library, search.address)) {
    return 0;
  }
  for (const ElfW(Phdr) & segment : std::span(library->dlpi_phdr, library->dlpi_phnum)) {
    if (segment.p_type == PT_NOTE && search.id.empty()) {
      search.id = find_note(
          reinterpret_cast<const unsigned char*>(library->dlpi_addr + segment.p_vaddr),
          segment.p_memsz);
    }
  }
  return 1; // found: no other library is looked at
}

} // namespace

const std::string& build_id() {
  // Never destroyed: threads may still compile when the process ends.
  static const auto& id = *[] {
    Search search{.address = reinterpret_cast<uintptr_t>(&build_id), .id = ""};
    dl_iterate_phdr(visit, &search);
    return new std::string(search.id);
  }();
  return id;
}

} // namespace nvfuser
