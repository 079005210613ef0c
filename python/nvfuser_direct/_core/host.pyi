"""Programs: several kernels, and what runs between."""

from collections.abc import Iterable, Sequence

import torch

import nvfuser_direct._core


class Piece:
    """A part of a fusion that one step computes."""

    @property
    def fusion(self) -> nvfuser_direct._core.Fusion:
        """The math that it computes, without a schedule."""

    @property
    def inputs(self) -> list[int]:
        """The slot of each of its inputs."""

    @property
    def scheduler(self) -> nvfuser_direct._core.SchedulerType:
        """The scheduler that it was cut for; ``none``: whichever takes it."""

class Partition:
    """
    A fusion as pieces that are computed one after another. Slots are numbered as those of a `HostProgram`: first the inputs of the fusion, then the visible outputs of each piece.
    """

    @property
    def pieces(self) -> list[Piece]:
        """In an order in which they can run."""

    @property
    def outputs(self) -> list[int]:
        """The slots of the visible outputs."""

def partition_of(plan: nvfuser_direct._core.SegmentedFusion) -> Partition:
    """
    The pieces that a segmented fusion runs as.

    Parameters
    ----------
    plan : SegmentedFusion
        The plan. Outputs that update an input late are pieces of their own, which copy.
    """

class Launch:
    """Run a scheduled fusion as one kernel."""

    def __str__(self) -> str: ...

    @property
    def fusion(self) -> nvfuser_direct._core.Fusion:
        """A copy of what the step computes."""

    @property
    def name(self) -> str:
        """Name of the kernel."""

    @property
    def inputs(self) -> list[int]:
        """The slots it reads."""

    @property
    def outputs(self) -> list[int]:
        """The slots it sets."""

class Evaluate:
    """Evaluate a fusion through PyTorch."""

    def __str__(self) -> str: ...

    @property
    def fusion(self) -> nvfuser_direct._core.Fusion:
        """A copy of what the step computes."""

    @property
    def inputs(self) -> list[int]:
        """The slots it reads."""

    @property
    def outputs(self) -> list[int]:
        """The slots it sets."""

class View:
    """See the memory of inputs as a fusion says that only moves elements."""

    def __str__(self) -> str: ...

    @property
    def fusion(self) -> nvfuser_direct._core.Fusion:
        """A copy of what the step computes."""

    @property
    def inputs(self) -> list[int]:
        """The slots it reads."""

    @property
    def outputs(self) -> list[int]:
        """The slots it sets."""

class Allocate:
    """Make tensors like the outputs of a fusion, without computing anything."""

    def __str__(self) -> str: ...

    @property
    def fusion(self) -> nvfuser_direct._core.Fusion:
        """A copy of what the step computes."""

    @property
    def inputs(self) -> list[int]:
        """The slots it reads."""

    @property
    def outputs(self) -> list[int]:
        """The slots it sets."""

class Copy:
    """
    Copy the elements of one tensor into another of the same type and shape.
    """

    def __str__(self) -> str: ...

    @property
    def source(self) -> int:
        """The slot that is read."""

    @property
    def target(self) -> int:
        """The slot whose elements are overwritten."""

class Free:
    """No later step reads a slot."""

    def __str__(self) -> str: ...

    @property
    def slot(self) -> int:
        """The slot."""

class SlotPlan:
    """A slot in runs with arguments of one signature."""

    @property
    def memory(self) -> str:
        """
        ``none`` (a number), ``argument``, ``workspace``, ``new tensor`` or ``evaluated``.
        """

    @property
    def owner(self) -> int:
        """The slot whose memory this one sees."""

    @property
    def same_as(self) -> int:
        """The slot that holds the very same tensor."""

    @property
    def byte_offset(self) -> int:
        """Where it begins in the owner's memory."""

    @property
    def bytes(self) -> int:
        """Size of the memory; 0 unless it is its own."""

    @property
    def workspace_offset(self) -> int:
        """Where it begins in the workspace (bytes), if it lies there."""

    @property
    def dtype(self) -> nvfuser_direct._core.DataType:
        """Element type."""

    @property
    def sizes(self) -> list[int]:
        """Sizes."""

    @property
    def strides(self) -> list[int]:
        """Strides, in elements."""

class ProgramPlan:
    """Runs of a program with arguments of one signature: what lies where."""

    @property
    def device(self) -> str:
        """``cpu`` or ``cuda:<index>``."""

    @property
    def slots(self) -> list[SlotPlan]:
        """By number."""

    @property
    def workspace_bytes(self) -> int:
        """
        Size of the one piece of memory for all tensors that live only between steps.
        """

    def __str__(self) -> str: ...

class HostProgram:
    """
    The program of a call: its arguments fill the first slots, its steps run in order, and the
    caller gets some of the slots. It can be changed until it is planned or run.
    """

    def __init__(self, fusion_id: int = 0) -> None:
        """
        A program without inputs, steps and outputs.

        Parameters
        ----------
        fusion_id : int
            Part of the names of kernels.
        """

    def add_input(self) -> int:
        """The slot of the next argument. All inputs come before the first step."""

    def add_output(self, slot: int) -> None:
        """
        Let the caller get a slot as the next output.

        Parameters
        ----------
        slot : int
            A tensor; the same one may be several outputs.
        """

    def launch(self, fusion: nvfuser_direct._core.Fusion, inputs: Sequence[int], launch_constraints: nvfuser_direct._core.LaunchParams | None = None, compile_params: nvfuser_direct._core.CompileParams = ..., scheduler_type: nvfuser_direct._core.SchedulerType = nvfuser_direct._core.SchedulerType.none) -> list[int]:
        """
        Run a scheduled fusion as one kernel.

        Parameters
        ----------
        fusion : Fusion
            The scheduled fusion, which is copied.
        inputs : list[int]
            A slot for each of its inputs.
        launch_constraints : LaunchParams, optional
            Sizes that the launch must have.
        compile_params : CompileParams
            How to compile.
        scheduler_type : SchedulerType
            Part of the kernel's name.

        Returns
        -------
        list[int]
            A slot for each of its visible outputs.

        Raises
        ------
        UserError
            For slots that are not there, were freed or hold something else, and for a fusion that is no
            kernel.
        """

    def evaluate(self, fusion: nvfuser_direct._core.Fusion, inputs: Sequence[int]) -> list[int]:
        """
        Evaluate a fusion through PyTorch.

        Parameters
        ----------
        fusion : Fusion
            What to evaluate; it is copied.
        inputs : list[int]
            A slot for each of its inputs.

        Returns
        -------
        list[int]
            A slot for each of its visible outputs.
        """

    def view(self, fusion: nvfuser_direct._core.Fusion, inputs: Sequence[int]) -> list[int]:
        """
        See the memory of tensors with other sizes and strides.

        Parameters
        ----------
        fusion : Fusion
            Its outputs are made of inputs by expressions that only move elements: set, permute, slice,
            broadcast, squeeze, expand, and reshapes that the strides of a run allow. It is copied.
        inputs : list[int]
            A slot for each of its inputs.

        Returns
        -------
        list[int]
            A slot for each of its outputs.
        """

    def allocate(self, fusion: nvfuser_direct._core.Fusion, inputs: Sequence[int]) -> list[int]:
        """
        Make tensors like the outputs of a fusion, without computing anything.

        Parameters
        ----------
        fusion : Fusion
            Its outputs have the types, sizes and strides of the tensors. It is copied.
        inputs : list[int]
            A slot for each of its inputs, from which sizes follow.

        Returns
        -------
        list[int]
            A slot for each of its outputs.
        """

    def copy(self, source: int, target: int) -> None:
        """
        Copy the elements of one tensor into another.

        Parameters
        ----------
        source, target : int
            Slots with tensors of one type and shape; strides may differ.
        """

    def free(self, slot: int) -> None:
        """
        Say that no later step reads a slot, so that others can have its memory.

        Parameters
        ----------
        slot : int
            A tensor that a step made, and that is no output.
        """

    def insert_frees(self) -> None:
        """Free every slot behind the last step that reads it."""

    def run(self, args: Iterable[object], device: torch.device | str | int | None = None) -> list[torch.Tensor]:
        """
        Run on the caller's current stream; kernels are compiled where they are new.

        Parameters
        ----------
        args : iterable
            Tensors and numbers, one for each input. One level of lists and tuples is opened.
        device : torch.device, optional
            Where a program without tensor inputs runs.

        Returns
        -------
        list[torch.Tensor]
            The outputs.

        Raises
        ------
        UserError
            If arguments do not fit the steps.
        """

    def plan(self, args: Iterable[object], device: torch.device | str | int | None = None) -> ProgramPlan:
        """
        The places of all slots in runs with arguments like these; nothing runs.

        Parameters
        ----------
        args : iterable
            As for `run`.
        device : torch.device, optional
            As for `run`.
        """

    @property
    def steps(self) -> list[Launch | Evaluate | View | Allocate | Copy | Free]:
        """In the order of a run."""

    @property
    def outputs(self) -> list[int]:
        """The slots that the caller gets."""

    @property
    def num_inputs(self) -> int:
        """How many arguments it takes."""

    @property
    def num_slots(self) -> int:
        """Inputs, and what steps set."""

    @property
    def num_plans(self) -> int:
        """How many signatures of arguments have a plan."""

    @property
    def fusion_id(self) -> int:
        """Part of the names of kernels."""

    def __str__(self) -> str: ...
