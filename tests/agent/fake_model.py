"""A model provider on this machine, so that the real agent answers without the internet."""

import http.server
import json
import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .install import AgentPaths

PI_SECONDS = 60.0


class FakeModel:
    """An OpenAI-compatible chat endpoint on a free loopback port, which always answers `reply`.

    Making one also makes `agent_dir`, an agent folder whose settings choose this model. `requests` holds the
    bodies of all requests so far. Use as a context manager.
    """

    def __init__(self, agent_dir: Path, reply: str = "pong") -> None:
        self.agent_dir = agent_dir
        self.requests: list[dict[str, Any]] = []
        self._server = _Server(reply, self.requests)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        port = self._server.server_address[1]
        provider = {
            "baseUrl": f"http://127.0.0.1:{port}/v1",
            "apiKey": "unused",
            "api": "openai-completions",
            "models": [
                {
                    "id": "parrot",
                    "name": "Parrot",
                    "input": ["text", "image"],
                    "contextWindow": 128_000,
                    "maxTokens": 4096,
                }
            ],
        }
        settings = {"defaultProvider": "local", "defaultModel": "parrot", "enableInstallTelemetry": False}
        models = {"providers": {"local": provider}}
        agent_dir.mkdir(parents=True)
        (agent_dir / "models.json").write_text(json.dumps(models), encoding="utf-8")
        (agent_dir / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for the requests under way

    def __init__(self, reply: str, requests: list[dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.requests = requests


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(body)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
        self._send(body, {"role": "assistant", "content": self.server.reply}, None)
        self._send(body, {}, "stop", usage=usage)
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _send(
        self, request: dict[str, Any], delta: dict[str, Any], finish: str | None, **more: object
    ) -> None:
        chunk = {
            "id": "chat-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": request.get("model"),
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            **more,
        }
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def log_message(self, *arguments: object) -> None:
        """Say nothing: requests are recorded, not printed."""


def run_pi(
    paths: AgentPaths, arguments: list[str], cwd: Path, agent_dir: Path, *, timeout: float = PI_SECONDS
) -> str:
    """Run the real agent without the network and give its standard output; fails the test when it fails."""
    quiet = {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0", "NO_COLOR": "1"}
    environment = paths.environment(home=agent_dir) | quiet | {"PI_CODING_AGENT_DIR": str(agent_dir)}
    done = subprocess.run(
        [paths.pi, *arguments],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    shown = done.stderr.decode("utf-8", errors="replace")
    assert done.returncode == 0, f"pi {arguments} ended with {done.returncode}: {shown}"
    return done.stdout.decode("utf-8", errors="replace")
