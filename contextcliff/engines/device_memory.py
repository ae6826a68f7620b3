"""The memory of the machine that this process runs on."""

from __future__ import annotations

import os
import platform

from contextcliff.records.kv_cache import GIB, DeviceMemory


def machine_memory() -> DeviceMemory:
    """All of it, as the operating system counts it."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return DeviceMemory(name=f"memory of this machine ({platform.machine()})", gib=total / GIB)
