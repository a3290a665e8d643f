"""A local server that speaks enough of the OpenAI protocol to answer well, slowly, wrongly, or not at all."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

GOOD = {
    "evidence_reasoning": 0.1,
    "decision_support": 0.7,
    "high_risk_constraint": 0.1,
    "creative_divergent": 0.1,
}


class FakeEndpoint:
    """``behave(query, visit)`` says what to do with the visit-th request for a query: a dict of what to send.

    status: HTTP status. content: text of the message. headers. delay: seconds before the answer. drop: hang up.
    """

    def __init__(self):
        self.behave = lambda query, visit: {}
        self.requests: list[dict] = []
        self.times: list[float] = []
        self._lock = threading.Lock()
        self.busy = self.busiest = 0
        self.closing = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                owner.answer(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def answer(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        query = body["messages"][-1]["content"].removeprefix("<query>\n").removesuffix("\n</query>")
        with self._lock:
            visit = sum(r["query"] == query for r in self.requests)
            self.requests.append(
                {
                    "query": query,
                    "body": body,
                    "path": handler.path,
                    "key": handler.headers["Authorization"],
                    "headers": {name.lower() for name in handler.headers},
                }
            )
            self.times.append(time.monotonic())
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
        what = self.behave(query, visit)
        self.closing.wait(what.get("delay", 0))
        with self._lock:
            self.busy -= 1
        if what.get("drop"):
            handler.close_connection = True
            return
        self.send(handler, what)

    @staticmethod
    def send(handler, what):
        status = what.get("status", 200)
        reply = {
            "id": "x", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {
                "role": "assistant", "content": what.get("content", json.dumps(GOOD))}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        } if status == 200 else {"error": {"message": "no", "code": what.get("code")}}  # fmt: skip
        data = what.get("raw", json.dumps(reply)).encode()
        try:
            handler.send_response(status)
            for name, value in what.get("headers", {}).items():
                handler.send_header(name, value)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the caller has gone

    def stop(self):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def server():
    fake = FakeEndpoint()
    yield fake
    fake.stop()
