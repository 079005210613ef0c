"""Between PyTorch's types and this package's."""

from __future__ import annotations

from nvfuser_direct.pytorch_utils import (
    nvfuser_dtype_to_torch_dtype as nvfuser_dtype_to_torch_dtype,
)
from nvfuser_direct.pytorch_utils import (
    python_scalar_to_nvfuser_dtype as python_scalar_to_nvfuser_dtype,
)
from nvfuser_direct.pytorch_utils import (
    torch_dtype_to_nvfuser_dtype as torch_dtype_to_nvfuser_dtype,
)
