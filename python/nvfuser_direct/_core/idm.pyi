"""Equivalence graphs over iteration domains."""

import nvfuser_direct._core


class DisjointValSets:
    """Classes of iteration domains that correspond."""

    def strict_are_mapped(self, entry0: nvfuser_direct._core.IterDomain, entry1: nvfuser_direct._core.IterDomain) -> bool:
        """
        Whether two axes are in one class.

        Parameters
        ----------
        entry0, entry1 : IterDomain
            Axes; `entry0` must be known.
        """

    def permissive_are_mapped(self, entry0: nvfuser_direct._core.IterDomain, entry1: nvfuser_direct._core.IterDomain) -> bool:
        """As `strict_are_mapped`; unknown axes are in no class."""

    def contains(self, entry: nvfuser_direct._core.IterDomain) -> bool:
        """Whether an axis is known."""

    def num_sets(self) -> int:
        """Number of classes."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class ValGraph:
    """Groups of axes that correspond, and of equal transforms."""

    def disjoint_val_sets(self) -> DisjointValSets:
        """The groups of axes."""

    def map_vals(self, val0: nvfuser_direct._core.IterDomain, val1: nvfuser_direct._core.IterDomain) -> None:
        """
        Put two axes into one group, with all that follows.

        Parameters
        ----------
        val0, val1 : IterDomain
            Axes.
        """

    def are_mapped(self, val0: nvfuser_direct._core.IterDomain, val1: nvfuser_direct._core.IterDomain) -> bool:
        """Whether two axes correspond; unknown ones only to themselves."""

    def members(self, id: nvfuser_direct._core.IterDomain) -> list[nvfuser_direct._core.IterDomain]:
        """
        The axes that correspond to an axis, itself included; [] if it is unknown.
        """

    def contains(self, id: nvfuser_direct._core.IterDomain) -> bool:
        """Whether an axis is known."""

    def group(self, id: nvfuser_direct._core.IterDomain) -> int:
        """
        Number of the group of an axis. It holds until the group is joined to another.
        """

    def definitions(self, id: nvfuser_direct._core.IterDomain) -> list[nvfuser_direct._core.Expr]:
        """
        One transform of each group of equal ones that makes the group of an axis.
        """

    def uses(self, id: nvfuser_direct._core.IterDomain) -> list[nvfuser_direct._core.Expr]:
        """
        One transform of each group of equal ones that reads the group of an axis.
        """

    def validate(self) -> None:
        """
        An internal error if equal transforms of mapped axes have results that are not mapped.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class IdModel:
    """The equivalence graphs of a fusion."""

    def __init__(self, fusion: nvfuser_direct._core.Fusion, build_graphs: bool = False, allow_self_mapping: bool = True, validate: bool = False) -> None:
        """
        Analyse a fusion as it is now.

        Parameters
        ----------
        fusion : Fusion
            What to analyse.
        build_graphs : bool
            Build the standard graphs now.
        allow_self_mapping : bool
            False makes it an error if two axes of one tensor correspond.
        validate : bool
            Check every graph when it is built.
        """

    def maybe_build_graph(self, mode: nvfuser_direct._core.IdMappingMode) -> ValGraph:
        """
        The graph of a mode; built on first use, with those it depends on.

        Parameters
        ----------
        mode : IdMappingMode
            Which axes correspond.
        """

    def fusion(self) -> nvfuser_direct._core.Fusion:
        """The fusion that was analysed."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class SelfMapping:
    """Two axes of one domain of a tensor that correspond to each other."""

    @property
    def tensor(self) -> nvfuser_direct._core.TensorView:
        """The tensor."""

    @property
    def first(self) -> nvfuser_direct._core.IterDomain:
        """One axis."""

    @property
    def second(self) -> nvfuser_direct._core.IterDomain:
        """The other."""

    @property
    def domain(self) -> str:
        """``root``, ``logical``, ``allocation`` or ``loop``."""

    def __str__(self) -> str: ...

def find_self_mapping(graph: ValGraph, fusion: nvfuser_direct._core.Fusion) -> SelfMapping | None:
    """
    The first self mapping of a tensor of a fusion in a graph; None if there is none.
    """
