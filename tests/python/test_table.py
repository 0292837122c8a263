"""Tables keep to the width of a terminal, and lose nothing by it."""

from __future__ import annotations

from lasthop.cli._table import table

WORDS = table(
    ["kind", "name", "summary"], [["queue", "fifo", "First in, first out, with drops at the tail."]], left=3, fit=40
)


def test_a_table_that_fits_is_one_line_a_row():
    text = table(["flow", "goodput", "RTT"], [["sta1.up", "1.000 ± 0.100", "3.0"]], fit=80)
    assert text == "flow           goodput  RTT\n───────  ─────────────  ───\nsta1.up  1.000 ± 0.100  3.0\n"
    assert table(["flow", "goodput", "RTT"], [["sta1.up", "1.000 ± 0.100", "3.0"]]) == text, "no terminal here"


def test_words_are_folded():
    lines = WORDS.splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(line[13:].strip() for line in lines[2:]) == "First in, first out, with drops at the tail."


def test_columns_of_numbers_continue_below_with_their_rows_named_again():
    head = ["flow", *(f"number {n}" for n in range(8))]
    text = table(head, [["sta1.up", *(f"{n}.000 ± 0.001" for n in range(8))]], fit=60)
    assert max(map(len, text.splitlines())) <= 60
    assert text.count("sta1.up") == len(text.split("\n\n")) > 1
    assert all(text.count(name) == 1 for name in head[1:])


def test_a_terminal_that_is_too_narrow_gets_one_column_at_a_time():
    text = table(["flow", "goodput", "RTT"], [["sta1.up", "1.000 ± 0.100", "3.0"]], fit=10)
    assert "1.000 ± 0.100" in text and "3.0" in text and text.count("sta1.up") == 2


def test_names_stay_whole_where_sentences_can_give_way():
    rows = [["airtime_fq_codel_x", "Queues of single flows, and turns by airtime.", "[a paper of the field]"]]
    lines = table(["name", "summary", "source"], rows, left=3, fit=60).splitlines()
    assert lines[2].startswith("airtime_fq_codel_x  ") and max(map(len, lines)) <= 60
    # If sentences are as narrow as they may be, a name is folded too.
    narrow = table(["name", "summary", "source"], rows, left=3, fit=42).splitlines()
    assert max(map(len, narrow)) <= 42 and not narrow[2].startswith("airtime_fq_codel_x")
