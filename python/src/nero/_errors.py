"""What can go wrong, in words."""

from typing import TYPE_CHECKING, Any, Sequence, Tuple

if TYPE_CHECKING:
    from nero._audit import Audit

__all__ = ["EquivarianceError", "ExportError", "NeroError", "ProgramMismatch", "ProgramNotFound"]


class NeroError(Exception):
    """The program refuses what it was asked for. The text is its own sentence."""

    #: The field of the study that is to blame, such as "group.name"; "" if it is none.
    field: str = ""
    #: What was started.
    command: Tuple[str, ...] = ()

    def __init__(self, message: str, field: str = "", command: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.field, self.command = field, tuple(command)


class ExportError(NeroError):
    """A module cannot be written as an ONNX file, or the file is not the module."""


class ProgramNotFound(NeroError, FileNotFoundError):
    """The program nero, which is part of the wheel, is not where installers put it."""

    def __init__(self, message: str) -> None:
        NeroError.__init__(self, message)


class ProgramMismatch(NeroError):
    """The program that was found is another than the one that this package came with."""


class EquivarianceError(AssertionError):
    """A model is not equivariant as it should be. The text is what the program says of it."""

    #: The audit, with its findings.
    audit: "Audit"

    def __init__(self, message: str, audit: Any = None) -> None:  # None where it is unpickled, which brings the audit afterwards
        super().__init__(message)
        self.audit = audit
