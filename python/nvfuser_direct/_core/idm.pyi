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

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...
