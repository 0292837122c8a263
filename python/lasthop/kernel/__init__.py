"""The kernel: emulation with its TCP in virtual or real time, and programs for this machine's own."""
