"""Names of the parts for several devices, as in `nvfuser_direct`."""

from __future__ import annotations

from nvfuser_direct.multidevice import Communicator as Communicator
from nvfuser_direct.multidevice import CommunicatorBackend as CommunicatorBackend
from nvfuser_direct.multidevice import DeviceMesh as DeviceMesh
from nvfuser_direct.multidevice import Sharding as Sharding
