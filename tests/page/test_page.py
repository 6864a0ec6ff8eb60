#!/usr/bin/env python3
"""The page of `linkwork reproduce --out DIR` in a real browser: nothing missing, nothing overlapping, light and dark.

Call: test_page.py PROGRAM [DIR]. Runs `PROGRAM reproduce --quick --json --out DIR` (DIR: a temporary folder), opens
DIR/index.html in headless Chromium through chromedriver (WebDriver over HTTP, no other package needed) and compares it with
the JSON. Every fault found is printed; exit status 1 if there is any.
"""
import json, os, re, socket, subprocess, sys, tempfile, time, urllib.request

faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)
        print("FAULT", text)


class Browser:
    """A session of chromedriver."""

    def __init__(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                if self.call("GET", "/status")["ready"]:
                    break
            except OSError:
                time.sleep(0.1)
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"]
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": arguments}}}})
        self.base += "/session/" + made["sessionId"]

    def call(self, verb, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=verb)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def open(self, path):
        self.call("POST", "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def devtools(self, command, **parameters):
        self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width, scheme):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def close(self):
        try:
            self.call("DELETE", "")
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait()


# Boxes that must not share space: neighbours in the flow, and what stands beside each other in them.
OVERLAPS = r"""
const bad = [], box = e => e.getBoundingClientRect();
const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                       Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
for (const parent of document.querySelectorAll('body, header, main, section, article, .top, .counts, nav, .map, dd, tr')) {
  const children = [...parent.children].filter(e => box(e).width > 0 && box(e).height > 0);
  for (let i = 0; i < children.length; i++) for (let j = i + 1; j < children.length; j++)
    if (meet(box(children[i]), box(children[j])))
      bad.push(parent.tagName + ': ' + children[i].textContent.slice(0, 40) + ' | ' + children[j].textContent.slice(0, 40));
}
for (const e of document.querySelectorAll('article *')) {
  if (e.closest('.scroll')) continue;
  const a = box(e.closest('article')), b = box(e);
  if (b.right > a.right + 1 || b.left < a.left - 1) bad.push('sticks out: ' + e.tagName + ' ' + e.textContent.slice(0, 40));
}
return bad;"""

# Text against what is behind it: WCAG asks for 4.5.
CONTRAST = r"""
const lum = c => { const v = c.map(x => { x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4 });
                   return .2126 * v[0] + .7152 * v[1] + .0722 * v[2] };
const rgb = s => s.match(/[\d.]+/g).map(Number);
const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
                      if (c.length < 4 || c[3] > 0) return c.slice(0, 3) } return [255, 255, 255] };
const bad = new Set();
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('svg') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
  const a = lum(rgb(getComputedStyle(e).color).slice(0, 3)), b = lum(behind(e));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) bad.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
}
return [...bad];"""

# The texts of a figure.
SVG_TEXTS = r"""
const view = document.documentElement.getBoundingClientRect(), out = [];
for (const t of document.querySelectorAll('text')) {
  const b = t.getBoundingClientRect();
  if (t.textContent.trim()) out.push([t.textContent, b.left - view.left, b.top - view.top, b.right - view.left, b.bottom - view.top]);
}
return {texts: out, width: view.width, height: view.height, curves: document.querySelectorAll('path, polyline').length};"""


def check_content(browser, items):
    page = browser.run("""return {
      title: document.title, methods: document.querySelectorAll('#methods tbody tr').length,
      papers: [...document.querySelectorAll('main > section')].map(e => e.id),
      items: [...document.querySelectorAll('article[id]')].map(e => ({id: e.id, text: e.innerText,
        rows: [...e.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.innerText)),
        figures: [...e.querySelectorAll('img')].map(i => [i.complete, i.naturalWidth, i.naturalHeight, i.alt])})),
      summary: [...document.querySelectorAll('#summary tbody tr')].map(r => [...r.cells].map(c => c.innerText)),
      links: [...document.querySelectorAll('a')].map(a => a.getAttribute('href')),
      ids: [...document.querySelectorAll('[id]')].map(e => e.id)}""")
    expect("Linkwork" in page["title"], "the title does not name Linkwork")
    expect(page["methods"] >= 12, f"only {page['methods']} methods are shown")
    papers = list(dict.fromkeys(i["item"].split("/")[0] for i in items))
    expect([p for p in page["papers"] if p in papers] == papers, f"papers {page['papers']}, wanted {papers}")
    expect(len(set(page["ids"])) == len(page["ids"]), "an id stands twice")
    for link in page["links"]:
        expect(link.startswith("#") and link[1:] in page["ids"], f"link {link} leads nowhere")
    shown = {i["id"]: i for i in page["items"]}
    expect(len(shown) == len(items), f"{len(shown)} items are shown of {len(items)}")
    total = 0
    for item in items:
        here = shown.get(item["item"].replace("/", "-"))
        if not here:
            expect(False, f"item {item['item']} is missing")
            continue
        total += len(item["rows"])
        expect(f"linkwork reproduce {item['item']}" in here["text"], f"{item['item']}: its command is missing")
        expect(item["summary"] in here["text"], f"{item['item']}: its summary is missing")
        expect([r["quantity"] for r in item["rows"]] == [r[0] for r in here["rows"]], f"{item['item']}: rows differ")
        for row, cells in zip(item["rows"], here["rows"]):
            wanted = "-" if row["here"] is None else f"{row['here']:.4g}"
            same = cells[2] == "-" if row["here"] is None else abs(float(cells[2]) - row["here"]) <= 1e-3 * abs(row["here"])
            expect(same, f"{item['item']}: {row['quantity']}: shows {cells[2]}, wanted {wanted}")
            expect((cells[4] != "not so") == row["ok"], f"{item['item']}: {row['quantity']}: verdict {cells[4]}")
        expect(len(here["figures"]) == (1 if item["figure"] else 0), f"{item['item']}: {len(here['figures'])} figures")
        for complete, width, height, alt in here["figures"]:
            expect(complete and width > 100 and height > 100 and alt, f"{item['item']}: the figure is not shown")
    expect(len(page["summary"]) >= total, f"{len(page['summary'])} of {total} numbers in the table")


def check_looks(browser, page):
    for scheme in ("light", "dark"):
        for width in (360, 768, 1280, 1920):
            browser.look(width, scheme)
            browser.open(page)
            where = f"{scheme}, {width} px"
            wide = browser.run("return document.documentElement.scrollWidth")
            expect(wide <= width, f"{where}: the page is {wide} px wide")
            for text in browser.run(OVERLAPS):
                expect(False, f"{where}: overlap: {text}")
            for text in browser.run(CONTRAST):
                expect(False, f"{where}: faint text: {text}")
        colour = browser.run("return getComputedStyle(document.body).backgroundColor")
        dark = sum(map(int, re.findall(r"\d+", colour)[:3])) < 3 * 128
        expect(dark == (scheme == "dark"), f"{scheme}: background {colour}")


def check_figure(browser, path):
    browser.look(1280, "light")
    browser.open(path)
    seen = browser.run(SVG_TEXTS)
    name = "/".join(path.split("/")[-2:])
    expect(seen["curves"] > 0, f"{name}: no curve")
    expect(len(seen["texts"]) > 4, f"{name}: axes without numbers")
    texts = seen["texts"]
    for i, (text, x0, y0, x1, y1) in enumerate(texts):
        expect(x0 >= -1 and y0 >= -1 and x1 <= seen["width"] + 1 and y1 <= seen["height"] + 1, f"{name}: cut off: {text}")
        for other, u0, v0, u1, v1 in texts[i + 1:]:
            # boxes of letters reach a little beyond the ink
            if min(x1, u1) - max(x0, u0) > 2 and min(y1, v1) - max(y0, v0) > 4:
                expect(False, f"{name}: overlap: {text} | {other}")


def main():
    program = os.path.abspath(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    start = time.time()
    made = subprocess.run([program, "reproduce", "--quick", "--json", "--out", folder], stdout=subprocess.PIPE)
    items = json.loads(made.stdout)
    print(f"{len(items)} items in {time.time() - start:.0f} s, exit status {made.returncode}")
    expect(len(items) > 0, "no items")
    page = os.path.join(folder, "index.html")
    text = open(page, encoding="utf-8").read()
    expect(not re.search(r"""(src|href)=["'](?!data:|#)""", text), "the page needs another file")
    expect("<script" not in text, "the page needs a script")
    browser = Browser()
    try:
        browser.look(1280, "light")
        browser.open(page)
        check_content(browser, items)
        check_looks(browser, page)
        figures = [i["figure"] for i in items if i["figure"]]
        expect(len(figures) > 0, "no figures")
        for figure in figures:
            check_figure(browser, figure)
    finally:
        browser.close()
    print(f"{len(items)} items, {sum(len(i['rows']) for i in items)} numbers, {len(figures)} figures, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
