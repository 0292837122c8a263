"""The ticks of a kernel's clock, as ours is told them."""

from __future__ import annotations

from lasthop.kernel.emulation import Kernel, find_kernel


def settings(kernel: Kernel | str) -> list[str]:
    """Settings of a scenario whose senders count time as this kernel does."""
    found = find_kernel(kernel) if isinstance(kernel, str) else kernel
    return [f"tcp.{key}={1000 / found.hz:g} ms" for key in ("timer_tick", "controller_tick")]


def timer(duration_ms: int, kernel: Kernel) -> str:
    """When a kernel's timer for this duration fires: rounded up to ticks, and one tick late."""
    tick_ms = 1000 / kernel.hz
    return f"{-(-duration_ms // tick_ms) * tick_ms + tick_ms:g} ms"
