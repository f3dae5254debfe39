"""The program of the model server's own process: loads one GGUF file and serves it on loopback until it is ended.

Run by path in isolated mode, so it must import nothing of Agenyx. Settings come as one JSON argument, the key by the
environment: arguments are visible to every user of the machine. Everything printed is log, except the one line that
begins with READY and says, as JSON, where the server listens.
"""

from __future__ import annotations

import json  # noqa: TID251 - this process has no Agenyx in it
import os
import signal
import sys
from importlib import import_module
from typing import Any

READY = "agenyx-local-ready "
KEY = "AGENYX_LOCAL_KEY"


def main() -> None:
    settings = json.loads(sys.argv[1])
    xllamacpp: Any = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = {settings["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [os.environ.pop(KEY)]
    params.n_ctx = settings["context"]
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.use_jinja = True
    params.ui = False
    params.cache_ram_mib = 256  # for the prompts of other conversations; the default is eight gigabytes
    if settings["template"]:
        with open(settings["template"], encoding="utf-8") as file:
            params.chat_template = file.read()
    params.slot_save_path = os.path.join(settings["slots"], "")
    params.endpoint_slots = True
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    # Spinning threads starve the commands that the agent runs, and each other on a busy machine.
    params.cpuparams.poll = 0
    params.cpuparams_batch.poll = 0
    server = xllamacpp.Server(params)
    # The log has threads of its own and may be in the middle of a line.
    os.write(1, f"\n{READY}{json.dumps({'url': server.listening_address})}\n".encode())
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
