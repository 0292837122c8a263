"""The three programs: loading each with its settings, finding loaded ones, unloading."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from . import layout, pins, split
from .requirements import OBJECTS, PINS, HostError, ready

NAMES = ("ack_loss", "ack_skip", "split_queue")
DEFAULT = Path("/proc/sys/net/ipv4/tcp_congestion_control")
UNIFIED = Path("/sys/fs/cgroup")
# A folder of version 2 has it, one of version 1 does not.
OF_VERSION_2 = "cgroup.controllers"
ALREADY_SET = "the default is ack_loss already, and would not be known after; set another first"


class Loaded(NamedTuple):
    """A loaded program: its name, its device (None for a controller), and the folder of its pins."""

    name: str
    device: str | None
    place: Path
    settings: str


def load_ack_loss(base: str = "cubic", threshold: int = 1, *, cgroup: str | None = None, default: bool = False) -> None:
    """Adds the congestion control `ack_loss` to the kernel, around `base`; sockets choose it by name.

    `cgroup`: the folder of a cgroup (version 2), whose new sockets get it. `default`: all new sockets of this network
    namespace do. Raises `HostError`.
    """
    extension = ready()
    if cgroup is not None and not (Path(cgroup) / OF_VERSION_2).exists():
        raise HostError(f"{cgroup}: is not a folder of a cgroup (version 2), such as {UNIFIED}/system.slice")
    if default and DEFAULT.read_text().strip() == "ack_loss":
        raise HostError(ALREADY_SET)
    with pins.folder("ack_loss") as place:
        settings = layout.ACK_LOSS_SETTINGS.pack(layout.BASES[base], threshold)
        _call(extension.load_controller, str(OBJECTS / "ack_loss.bpf.o"), str(place), settings, cgroup)
        pins.remember(
            place, "settings", f"base {base}, threshold {threshold}" + (f", cgroup {cgroup}" if cgroup else "")
        )
        if default:
            _set_default(place)


def load_ack_skip(device: str, skip: int = 3, start_after: int = 10) -> None:
    """Leaves out `skip` pure ACKs between two that leave `device`, after the first `start_after` of each flow."""
    extension = ready()
    number = _number_of(device)
    with pins.folder("ack_skip", str(number)) as place:
        settings = layout.ACK_SKIP_SETTINGS.pack(skip, start_after)
        _call(extension.load_classifier, str(OBJECTS / "ack_skip.bpf.o"), str(place), settings, number)
        pins.remember(place, "settings", f"skip {skip}, start after {start_after}")
        pins.remember(place, "namespace", pins.network_namespace())


def load_split_queue(device: str, rate: str | None = None) -> None:
    """Gives `device` two queues, for data and for pure ACKs, which take turns packet by packet.

    `rate`: the device's highest rate, as `tc` writes it ("50mbit"), so that packets wait here and not below.
    """
    extension = ready()
    number = _number_of(device)
    with pins.folder("split_queue", str(number)) as place:
        split.set_up(device, rate)
        try:
            settings = layout.SPLIT_QUEUE_SETTINGS.pack(split.ACK_CLASS)
            _call(extension.load_classifier, str(OBJECTS / "split_queue.bpf.o"), str(place), settings, number)
            pins.remember(place, "settings", f"rate {rate or 'unlimited'}")
            pins.remember(place, "namespace", pins.network_namespace())
        except BaseException:
            split.take_down(device)
            raise


def loaded() -> list[Loaded]:
    """Returns our programs in the kernel, by name and device."""
    found = []
    for name in NAMES:
        place = PINS / name
        if not place.is_dir():
            continue
        places = [place] if name == "ack_loss" else sorted(place.iterdir())
        for own in places:
            device = None if name == "ack_loss" else _device_of(own)
            found.append(Loaded(name, device, own, pins.remembered(own, "settings") or ""))
    return found


def unload(name: str, device: str | None = None) -> list[Loaded]:
    """Unloads `name`, from `device` or from all, and restores the host's settings; returns the unloaded programs."""
    ready()
    chosen = [one for one in loaded() if one.name == name and device in (None, one.device)]
    if not chosen:
        raise HostError(f"{name} is not loaded" + (f" on {device}" if device else ""))
    for one in chosen:
        _check_namespace(one)
    for one in chosen:
        if name == "ack_loss":
            _set_back(one.place)
        elif name == "split_queue" and one.device is not None:
            split.take_down(one.device)
        pins.remove(one.place)
    return chosen


def _set_default(place: Path) -> None:
    pins.remember(place, "before", DEFAULT.read_text().strip())
    pins.remember(place, "namespace", pins.network_namespace())
    try:
        DEFAULT.write_text("ack_loss")
        if DEFAULT.read_text().strip() != "ack_loss":
            raise HostError("the kernel did not take ack_loss as its default")
    except BaseException as error:
        _set_back(place)
        if isinstance(error, OSError):
            raise HostError(f"{DEFAULT}: {error.strerror}") from None
        raise


def _set_back(place: Path) -> None:
    """Settings changed by others since then are left alone."""
    before = pins.remembered(place, "before")
    if before is not None and DEFAULT.read_text().strip() == "ack_loss":
        DEFAULT.write_text(before)


def _check_namespace(one: Loaded) -> None:
    """Disciplines and the default belong to a network namespace, and are restored there."""
    own = pins.remembered(one.place, "namespace")
    needs_it = one.name == "split_queue" or pins.remembered(one.place, "before") is not None
    if needs_it and own is not None and own != pins.network_namespace() and _is_alive(own):
        raise HostError(f"{one.name} was loaded in another network namespace, {own}; unload it there")


def _is_alive(namespace: str) -> bool:
    """Whether a process is in that network namespace, or a name keeps it."""
    number = namespace.partition("[")[2].rstrip("]")
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                if os.readlink(f"{entry.path}/ns/net") == namespace:
                    return True
    names = Path("/run/netns")
    return names.is_dir() and any(str(entry.stat().st_ino) == number for entry in names.iterdir())


def _number_of(device: str) -> int:
    try:
        return socket.if_nametoindex(device)
    except OSError:
        raise HostError(f"{device}: there is no such network device here; `ip link` lists them") from None


def _device_of(place: Path) -> str | None:
    if pins.remembered(place, "namespace") != pins.network_namespace():
        return None
    try:
        return socket.if_indextoname(int(place.name))
    except OSError:
        return None


def _call(load: Callable[..., None], *arguments: Any) -> None:
    try:
        load(*arguments)
    except OSError as error:
        raise HostError(f"the kernel refused it: {error}") from None
