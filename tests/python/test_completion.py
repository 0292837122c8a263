"""`lasthop self completion`: what shells are given completes commands and options."""

from __future__ import annotations

import shutil
import subprocess

import pytest


def test_bash_completes_commands_and_options(command, tmp_path) -> None:
    script = command("self", "completion", "bash").stdout
    if (bash := shutil.which("bash")) is None:
        pytest.skip("bash is not installed")
    (tmp_path / "completion").write_text(script)

    def completed(*words: str) -> list[str]:
        asked = "\n".join(
            (
                f"source {tmp_path / 'completion'}",
                f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}",
                r"""function=$(complete -p lasthop | sed 's/.*-F \([^ ]*\).*/\1/')""",
                f"$function lasthop {words[-1]} ''",
                r"""printf '%s\n' "${COMPREPLY[@]}" """,
            )
        )
        return subprocess.run([bash, "-c", asked], capture_output=True, text=True, check=True).stdout.split()

    assert "export" in completed("lasthop", "exp")
    assert "link" in completed("lasthop", "export", "li")
    assert "--station" in completed("lasthop", "export", "link", "--sta")
    assert "--seeds" in completed("lasthop", "run", "--see")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_given_every_command(command, shell: str) -> None:
    script = command("self", "completion", shell).stdout
    assert all(name in script for name in ("run", "export", "link", "--congestion-control"))
    interpreter = shutil.which(shell)
    if interpreter is not None:
        assert subprocess.run([interpreter, "-n"], input=script, text=True, check=False).returncode == 0


def test_another_shell_is_refused(command) -> None:
    done = command("self", "completion", "tcsh")
    assert done.returncode == 2 and "bash" in done.stderr
