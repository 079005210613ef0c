// Matrices of 8 x 8 elements of 16 bits, between shared memory and the registers of a warp: compute
// capability 7.5 and above, to store them 9.0 and above.
//
// All lanes of a warp come here together. `row` is where a row of 8 elements begins: row r of
// matrix i for lane 8 * i + r. Element 2 * i + e of `registers` is element e of a lane's pair of
// matrix i: columns 2 * (lane % 4) + e of row lane / 4; transposed, rows and columns are exchanged.
//
// provides: load_matrix store_matrix
// requires: types vector
#pragma once

template <int kMatrices, bool kIsTransposed, typename T>
NVF_FUNCTION void load_matrix(T* registers, const T* row) {
#if __CUDA_ARCH__ >= 750
  unsigned pairs[4] = {};
  const unsigned address = shared_address(row);
  if constexpr (kMatrices == 4 && kIsTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
                 : "r"(address)
                 : "memory");
  } else if constexpr (kMatrices == 4) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
                 : "r"(address)
                 : "memory");
  } else if constexpr (kMatrices == 2 && kIsTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(pairs[0]), "=r"(pairs[1])
                 : "r"(address)
                 : "memory");
  } else if constexpr (kMatrices == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(pairs[0]), "=r"(pairs[1])
                 : "r"(address)
                 : "memory");
  } else if constexpr (kIsTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(pairs[0])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(pairs[0])
                 : "r"(address)
                 : "memory");
  }
  for (int i = 0; i < kMatrices; ++i) {
    registers[2 * i].bits = static_cast<unsigned short>(pairs[i]);
    registers[2 * i + 1].bits = static_cast<unsigned short>(pairs[i] >> 16);
  }
#endif
}

template <int kMatrices, bool kIsTransposed, typename T>
NVF_FUNCTION void store_matrix(T* row, const T* registers) {
#if __CUDA_ARCH__ >= 900
  unsigned pairs[4] = {};
  for (int i = 0; i < kMatrices; ++i) {
    pairs[i] = static_cast<unsigned>(registers[2 * i].bits) |
               static_cast<unsigned>(registers[2 * i + 1].bits) << 16;
  }
  const unsigned address = shared_address(row);
  if constexpr (kMatrices == 4 && kIsTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(address), "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                 : "memory");
  } else if constexpr (kMatrices == 4) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(address), "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                 : "memory");
  } else if constexpr (kMatrices == 2 && kIsTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                 :
                 : "r"(address), "r"(pairs[0]), "r"(pairs[1])
                 : "memory");
  } else if constexpr (kMatrices == 2) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                 :
                 : "r"(address), "r"(pairs[0]), "r"(pairs[1])
                 : "memory");
  } else if constexpr (kIsTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};"
                 :
                 : "r"(address), "r"(pairs[0])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};"
                 :
                 : "r"(address), "r"(pairs[0])
                 : "memory");
  }
#endif
}
