"""Recordings in the formats of other tools: qlog for qvis, a trace for Perfetto.

Both read the tables a batch of rows at a time (`rows`), so memory does not grow with the length of a run. `sequence`
finds the packets that an acknowledgement covers; `protobuf` writes the messages of a Perfetto trace.
"""
