"""A monitor as what frameworks of training call. None of them is imported here: whoever has a Trainer has imported it."""

import sys
from typing import Any, Callable, Dict, Optional, Tuple

from nero._errors import NeroError

__all__ = ["huggingface", "lightning"]

#: A monitor: called with a step and an epoch.
Watch = Callable[..., Any]


def lightning(watch: Watch) -> Any:
    """A callback of Lightning, under either of its names."""

    def on_train_batch_end(self: Any, trainer: Any, *_: Any, **__: Any) -> None:
        if trainer.is_global_zero:
            watch(trainer.global_step)

    def on_train_epoch_end(self: Any, trainer: Any, *_: Any, **__: Any) -> None:
        if trainer.is_global_zero:
            watch(trainer.global_step, epoch=trainer.current_epoch + 1)

    bases = _bases("Callback", "lightning.pytorch", "pytorch_lightning")
    return _made(bases, "import lightning.pytorch", {"on_train_batch_end": on_train_batch_end, "on_train_epoch_end": on_train_epoch_end})


def huggingface(watch: Watch) -> Any:
    """A callback of the Trainer of Hugging Face."""

    def on_step_end(self: Any, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            watch(state.global_step)

    def on_epoch_end(self: Any, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            watch(state.global_step, epoch=None if state.epoch is None else round(state.epoch))

    return _made(_bases("TrainerCallback", "transformers"), "import transformers", {"on_step_end": on_step_end, "on_epoch_end": on_epoch_end})


def _bases(name: str, *libraries: str) -> Tuple[type, ...]:
    """The classes of that name in the libraries that are imported: frameworks ask for theirs."""
    found: "list[Optional[type]]" = [getattr(sys.modules[lib], name, None) for lib in libraries if lib in sys.modules]
    return tuple(b for b in found if b is not None)


def _made(bases: Tuple[type, ...], remedy: str, methods: Dict[str, Any]) -> Any:
    if not bases:
        raise NeroError(f"the framework that is to call is not imported here; {remedy} first")
    return type("NeroMonitor", bases, methods)()
