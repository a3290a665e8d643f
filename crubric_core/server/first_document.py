"""Add a script and a style to the HTML document with which Streamlit's page starts, for six purposes.

1. The script sets the server's address. Without it, a page below the first requests ``/leaderboard/_stcore/health``
   and ``host-config`` before ``/_stcore/…``: two 404 errors in the console at every load.
2. A page that completes its own address adds no entry to the browser's history. Streamlit adds an entry for every
   parameter that a script writes, so Back would lead through addresses that the user never chose. One entry remains
   for each action of the user. Between a click on a link to another page and the change of the path, nothing is
   written: a page that is drawn quickly would otherwise put its parameters into the address of the page before it.
3. A click on a chart selects what was clicked. Plotly itself selects no cell of a heat map, no point of a line and no
   bar of a chart on which ranges are dragged; on a touch screen it selects what was tapped before.
4. Tab leads from the button of an open popover into the popover, and from its end to the element after the button.
   Streamlit puts the content of a popover behind the whole page.
5. When the focused element is drawn again or removed, the keyboard focus moves to the element of the same name that
   replaced it, or else to an element before it. Otherwise ticking a box in a table, or pressing a button that
   disappears, would move the focus to the top of the page.
6. The style of charts (charts.css). As a part of the page, the style arrived after the first chart on a slow
   connection, and the chart was hidden until then.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.datastructures import MutableHeaders

if TYPE_CHECKING:
    from starlette.types import Message, Scope, Send

HEAD = b"<head>"
STYLE = f"<style>\n{Path(__file__).with_name('charts.css').read_text(encoding='utf-8')}</style>"
SCRIPT = """<script>
  window.__streamlit = { ...window.__streamlit, BACKEND_BASE_URL: location.origin + %s };
  (() => {
    let acted = false, leaving = false;
    for (const act of ["pointerdown", "keydown"]) addEventListener(act, () => { acted = true; }, true);
    addEventListener("click", (click) => {
      const link = click.target.closest?.("a[href]");
      leaving = click.defaultPrevented && !!link && new URL(link.href).pathname !== location.pathname;
    });
    addEventListener("popstate", () => { acted = leaving = false; });
    const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
    history.pushState = (state, title, address) => {
      const same = new URL(address ?? "", location.href).pathname === location.pathname;
      if (same && leaving) return;
      (same && !acted ? replace : push)(state, title, address);
      acted = leaving = false;
    };
    const known = new WeakSet();
    addEventListener("pointerover", (over) => {
      const chart = over.target.closest?.(".js-plotly-plot");
      if (!chart?.on || known.has(chart)) return;
      known.add(chart);
      const emit = chart.emit.bind(chart);
      chart.emit = (name, ...told) => {
        // Of a tap Plotly selects what was tapped before: what a click selects is told below.
        const its = name === "plotly_selected" && chart.layout.dragmode !== "select";
        return its ? false : emit(name, ...told);
      };
      chart.on("plotly_click", ({ points: [mark], event }) => {
        if (event.detail > 1) return;
        const { curveNumber, pointNumber, x, y } = mark;
        const pointIndex = mark.fullData.type === "heatmap" ? 0 : pointNumber;
        if (chart.layout.selections?.length) emit("plotly_doubleclick"); // the range of before goes
        emit("plotly_selected", { points: [{ curveNumber, pointIndex, x, y }], selections: [] });
      });
    }, true);
    const STOPS = "a[href], button, input, select, textarea, summary, [tabindex]";
    const LAYER = '[data-testid="stPopoverBody"], [role="dialog"]';
    const READY = '[data-testid="stApp"][data-test-script-state="notRunning"]';
    // Cells of a table are named by their place: what they say changes with what is ticked.
    const named = (stop) => stop.closest("td")?.id || stop.tagName + (stop.ariaLabel || stop.textContent);
    let keys = 0, keyed = false, reached = null, below = [];
    addEventListener("keydown", () => { keyed = true; keys += 1; }, true);
    addEventListener("pointerdown", () => { keyed = false; }, true);
    addEventListener("focusin", ({ target: stop }) => {
      const stops = [...document.querySelectorAll(STOPS)], name = named(stop);
      const tables = [...document.querySelectorAll(".dvn-scroller")];
      const table = tables.findIndex((each) => each.parentElement.contains(stop));
      // From a popover or dialog the way back is to where it was opened.
      if (!stop.closest(LAYER)) below = stops.slice(0, stops.indexOf(stop) + 1);
      const alike = stops.filter((each) => each.tagName === stop.tagName && named(each) === name);
      reached = { stop, name, table, scrolled: tables[table]?.scrollTop, place: alike.indexOf(stop) };
    });
    setInterval(() => {
      const open = (stop) => !stop.disabled && (stop.closest("canvas") ?? stop).checkVisibility();
      const lost = keyed && reached && document.activeElement === document.body && !open(reached.stop);
      if (!lost || !document.querySelector(READY)) return;
      const table = document.querySelectorAll(".dvn-scroller")[reached.table];
      if (table && reached.scrolled) table.scrollTop = reached.scrolled; // its cells follow
      const alike = [...document.querySelectorAll(STOPS)].filter((stop) => named(stop) === reached.name && open(stop));
      reached.asked = (reached.asked ?? 0) + 1;
      if (!alike.length && reached.asked < 5) return; // a table is there before its cells
      // No button: a second Enter would do what nobody asked for.
      const before = below.findLast((stop) => open(stop) && stop.tabIndex >= 0 && stop.tagName !== "BUTTON");
      const next = alike[Math.min(reached.place, alike.length - 1)] ?? before;
      reached = null;
      next?.focus({ preventScroll: true });
      // A table that has no cell chosen yet takes its first one.
      const then = keys;
      if (next?.closest("td")) setTimeout(() => keys === then && next.focus({ preventScroll: true }), 400);
      (next?.closest("canvas") ?? next)?.scrollIntoView({ block: "nearest" });
    }, 200);
    addEventListener("keydown", (key) => {
      const button = document.querySelector('[data-testid="stPopoverButton"][aria-expanded="true"]');
      const body = button && document.querySelector('[data-testid="stPopoverBody"]');
      if (key.key !== "Tab" || !body) return;
      const stops = [...body.querySelectorAll(STOPS)].filter(
        (each) => each.tabIndex >= 0 && !each.disabled && (each.type !== "radio" || each.checked)
          && each.checkVisibility(),
      );
      const from = document.activeElement, first = stops[0], last = stops[stops.length - 1];
      const back = key.shiftKey && from === first;
      if (back || (first && !key.shiftKey && from === button)) {
        key.preventDefault();
        (back ? button : first).focus();
      } else if (!key.shiftKey && from === last) button.focus(); // from there Tab goes on
    }, true);
  })();
</script>"""


def starting(base: str, send: Send) -> Send:
    """``send`` that inserts the script and the style into an HTML document. base: server.baseUrlPath, "" or "/…"."""
    head: Message | None = None
    body = bytearray()

    async def send_document(message: Message) -> None:
        nonlocal head
        if message["type"] == "http.response.start" and _is_page(message):
            head = message
        elif head is None or message["type"] != "http.response.body":
            await send(message)
        else:
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                for part in _document(head, bytes(body), base):
                    await send(part)

    return send_document


def without_compression(scope: Scope) -> Scope:
    """The request without the headers that permit a compressed, partial or "not modified" answer."""
    unwanted = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}
    headers = [(name, value) for name, value in scope["headers"] if name.lower() not in unwanted]
    return {**scope, "headers": headers}


def asks_for_page(scope: Scope) -> bool:
    """Whether a request is a GET that accepts HTML: a browser opens a page, rather than loading a file of one."""
    accept = next((value for name, value in scope["headers"] if name.lower() == b"accept"), b"")
    return scope["method"] == "GET" and b"text/html" in accept


def _is_page(message: Message) -> bool:
    headers = MutableHeaders(scope=message)
    kind = headers.get("content-type", "")
    return message["status"] == 200 and kind.startswith("text/html") and "content-encoding" not in headers


def _document(head: Message, body: bytes, base: str) -> list[dict[str, Any]]:
    told = (SCRIPT % json.dumps(base) + STYLE).encode()
    body = body.replace(HEAD, HEAD + told, 1)
    headers = MutableHeaders(scope=head)
    for name in ("etag", "last-modified"):  # they describe the document before the insertion
        if name in headers:
            del headers[name]
    headers["content-length"] = str(len(body))
    return [dict(head), {"type": "http.response.body", "body": body}]
