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
        arguments = ["--headless", "--no-sandbox", "--hide-scrollbars", "--disable-dev-shm-usage", "--use-angle=swiftshader",
                     "--enable-unsafe-swiftshader", "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync"]
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


def check_content(browser, items, folder):
    page = browser.run("""return {
      title: document.title, methods: document.querySelectorAll('#methods tbody tr').length,
      papers: [...document.querySelectorAll('main > section')].map(e => e.id),
      items: [...document.querySelectorAll('article[id]')].map(e => ({id: e.id, text: e.innerText,
        open: !!(e.querySelector('details') || {}).open,
        rows: [...e.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent)),
        figures: [...e.querySelectorAll('img')].map(i => [i.complete, i.naturalWidth, i.naturalHeight, i.alt])})),
      summary: [...document.querySelectorAll('#summary tbody tr')].map(r => [...r.cells].map(c => c.textContent)),
      folded: [...document.querySelectorAll('#summary details, #methods details')].map(d => d.open),
      motions: [...document.querySelectorAll('main > section')].map(s => [s.id, [...s.querySelectorAll('iframe')].map(
        f => [f.getAttribute('src'), f.title, f.loading, f.closest('details').open])]),
      links: [...document.querySelectorAll('a')].map(a => a.getAttribute('href')),
      ids: [...document.querySelectorAll('[id]')].map(e => e.id)}""")
    expect("Linkwork" in page["title"], "the title does not name Linkwork")
    expect(page["methods"] >= 12, f"only {page['methods']} methods are shown")
    papers = list(dict.fromkeys(i["item"].split("/")[0] for i in items))
    expect([p for p in page["papers"] if p in papers] == papers, f"papers {page['papers']}, wanted {papers}")
    expect(len(set(page["ids"])) == len(page["ids"]), "an id stands twice")
    expect(page["folded"] == [False, False], "the long tables are not folded")
    for paper, motions in page["motions"]:
        if paper not in papers:
            continue
        expect(len(motions) > 0, f"{paper}: nothing moves")
        expect([m[3] for m in motions] == [True] + [False] * (len(motions) - 1), f"{paper}: not the first motion is open")
        for source, title, loading, _ in motions:
            expect(os.path.isfile(os.path.join(folder, source)), f"{paper}: {source} is not there")
            expect(title and loading == "lazy", f"{paper}: {source}: {title}, {loading}")
    for link in page["links"]:
        expect(link.startswith("motions/") or link.startswith("#") and link[1:] in page["ids"], f"link {link} leads nowhere")
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
        for figure in here["figures"]:  # its heading stands above it once
            expect(here["text"].count(item["summary"]) == 1, f"{item['item']}: its title stands {here['text'].count(item['summary'])} times")
        for row, cells in zip(item["rows"], here["rows"]):
            wanted = "-" if row["here"] is None else f"{row['here']:.4g}"
            same = cells[2] == "-" if row["here"] is None else abs(float(cells[2]) - row["here"]) <= 1e-3 * abs(row["here"])
            expect(same, f"{item['item']}: {row['quantity']}: shows {cells[2]}, wanted {wanted}")
            expect(("not so" not in cells[5]) == row["ok"], f"{item['item']}: {row['quantity']}: verdict {cells[5]}")
            origin = row["stated"] if row["paper"] is None else row["paper"]
            if origin and row["here"] is not None:  # the ratio here/paper, to three decimals
                expect(abs(float(cells[3]) - row["here"] / origin) <= 6e-4 + 0.006 * abs(row["here"] / origin) *
                       (not 0.01 < row["here"] / origin < 100), f"{item['item']}: {row['quantity']}: ratio {cells[3]}")
        wanted = bool(item["figure"]) + bool(item["path_figure"])
        expect(len(here["figures"]) == wanted, f"{item['item']}: {len(here['figures'])} figures, not {wanted}")
        expect(here["open"] == (len(item["rows"]) <= 6 or not item["ok"]) or not item["rows"],
               f"{item['item']}: its table of {len(item['rows'])} rows is {'un' if here['open'] else ''}folded")
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


def check_motion(browser, page):
    """An unfolded mechanism is drawn, and it moves."""
    browser.look(1280, "light")
    browser.open(page)
    browser.run("document.querySelector('iframe').scrollIntoView()")
    pictures = []
    for _ in range(2):
        time.sleep(4)
        frame = browser.call("POST", "/element", {"using": "css selector", "value": "iframe"})
        pictures.append(browser.call("GET", f"/element/{next(iter(frame.values()))}/screenshot"))
    expect(len(pictures[0]) > 20000, f"the first motion is empty: a picture of {len(pictures[0])} bytes")
    expect(pictures[0] != pictures[1], "the first motion stands still")


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
    expect(not re.search(r"""(src|href)=["'](?!data:|#|motions/\w+\.html)""", text), "the page needs another file")
    expect("<script" not in text, "the page needs a script")
    browser = Browser()
    try:
        browser.look(1280, "light")
        browser.open(page)
        check_content(browser, items, folder)
        check_looks(browser, page)
        figures = [i["figure"] for i in items if i["figure"]]
        expect(len(figures) > 0, "no figures")
        for figure in figures + [i["path_figure"] for i in items if i["path_figure"]]:
            check_figure(browser, figure)
        check_motion(browser, page)
    finally:
        browser.close()
    print(f"{len(items)} items, {sum(len(i['rows']) for i in items)} numbers, {len(figures)} figures, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
