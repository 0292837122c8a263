"""Where a guest searches for programs: its root is that of this machine."""

PROGRAMS_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
