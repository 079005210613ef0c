"""Errors of the frontend, in the form that the core's have: what, expected, found, what to do."""

from __future__ import annotations

from nvfuser_direct import UserError


def user_error(
    headline: str,
    *,
    node: str | None = None,
    expected: str | None = None,
    found: str | None = None,
    fix: str | None = None,
    kind: type[UserError] = UserError,
) -> UserError:
    """An error about the user's program.

    Parameters
    ----------
    headline : str
        The rule that was broken; callers match on it.
    node : str, optional
        The statement or definition it is about.
    expected, found : str, optional
        What the rule asks for, and what there was.
    fix : str, optional
        What to write instead.
    kind : type
        UserError, or a class of it that is a ValueError or the like as well.
    """
    lines = [headline]
    for title, text in (("node", node), ("expected", expected), ("found", found), ("fix", fix)):
        if text:
            lines.append(f"  {title + ':':<9} {text}")
    return kind("\n".join(lines))


NOT_OPEN = (
    "{what} must be called from an initialized definition via a python context manager or a child "
    "class' definition() method."
)
COMPLETED = "Attempting to add to a completed definition!"
EARLY_SCHEDULE = "Attempting to use a SchedOperators Op prior to definition!"
RESET = "The definition belongs to a FusionCache that was reset."
