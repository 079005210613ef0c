// Grids of one stream that overlap: a grid may be launched while the one before it runs. Compute
// capability 9.0 and above; before, grids run one after the other.
//
// provides: wait_for_prior_grid launch_dependent_grid
// requires: types
#pragma once

/// Wait until the grid before this one has ended, and see what it wrote.
NVF_FUNCTION void wait_for_prior_grid() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// When all blocks have come here or have ended, a grid that waits for this one may begin.
NVF_FUNCTION void launch_dependent_grid() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
