#!/usr/bin/env python3
"""Pages of `linkwork view` in a real browser: the scene is there, bodies are where the results say, time and keys work.

Call: test_view.py PROGRAM [DIR]. Writes pages of mechanisms with each joint and each shape, loops, 500 bodies, one sample, no
time, hostile names, two runs, into DIR (a temporary folder), opens each in headless Chromium through chromedriver and tests it
against a results file of the same run. Screenshots stay in DIR. Every fault found is printed; exit status 1 if there is any.
"""
import base64, csv, json, math, os, re, socket, struct, subprocess, sys, tempfile, time, urllib.request, zlib

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)
        print("FAULT", text, flush=True)


class Browser:
    """A session of chromedriver, with a fresh profile and software WebGL."""

    def __init__(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                if self.call("GET", "/status")["ready"]:
                    break
            except OSError:
                time.sleep(0.1)
        arguments = ["--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars",
                     "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--disable-component-update",
                     "--disable-sync", "--disable-extensions"]
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": {"args": arguments}}}})
        self.base += "/session/" + made["sessionId"]

    def call(self, verb, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=verb)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width, height, scheme):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path, state="t=0"):
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": "file://" + os.path.abspath(path) + ("#" + state if state else "")})
        for _ in range(100):
            if self.run("return !!window.linkwork || document.readyState === 'complete' && false"):
                return
            time.sleep(0.05)

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def keys(self, *names):
        code = {"Home": 36, "End": 35, "ArrowRight": 39, "ArrowLeft": 37, " ": 32, "Tab": 9}
        for name in names:
            for kind in ("keyDown", "keyUp"):
                text = {"text": name} if kind == "keyDown" and len(name) == 1 else {}
                self.devtools("Input.dispatchKeyEvent", type=kind, key=name, code="Space" if name == " " else name,
                              windowsVirtualKeyCode=code.get(name, ord(name[0].upper())), **text)

    def screenshot(self, path):
        png = base64.b64decode(self.devtools("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as file:
            file.write(png)
        return png

    def complaints(self):
        """Messages of the console that count; stalls of readPixels in software WebGL do not."""
        return [e["message"] for e in self.call("POST", "/se/log", {"type": "browser"})
                if e["level"] in ("SEVERE", "WARNING") and "GPU stall" not in e["message"] and "swiftshader" not in e["message"].lower()]

    def close(self):
        try:
            self.call("DELETE", "")
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait()


# --- mechanisms --------------------------------------------------------------------------------------------------------------

EVERYTHING = """
linkwork: 1
name: every joint and every shape
bodies:
  box: {shape: box, size: [0.5, 0.3, 0.3], mass: 1, position: [0, 0, 0]}
  cylinder: {shape: cylinder, radius: 0.15, length: 0.5, mass: 1, position: [1.2, 0, 0]}
  sphere: {shape: sphere, radius: 0.2, mass: 1, position: [2.4, 0, 0]}
  cone: {shape: cone, radius: 0.2, height: 0.5, mass: 1, position: [3.6, 0, -0.3]}
  rod: {shape: rod, points: [[4.8, 0, 0], [4.8, 0.3, -0.4]], radius: 30 mm, mass: 1}
  tetra: {shape: tetrahedron, points: [[6, 0, 0], [6.4, 0, 0], [6, 0.4, 0], [6, 0, 0.5]], mass: 1}
  plain: {mass: 1, com: [7.2, 0.1, -0.3], inertia: [0.1, 0.1, 0.05]}
  slab: {shape: box, size: [0.4, 0.4, 0.1], mass: 1, position: [8.4, 0, 0]}
  cart: {shape: box, size: [0.4, 0.3, 0.2], mass: 1, position: [9.6, 0, 0]}
  stuck: {shape: box, size: [0.3, 0.3, 0.3], mass: 1, position: [10.8, 0, 0]}
  pill: {shape: capsule, radius: 0.1, length: 0.3, mass: 1, position: [12, 0, 0], colour: red}
  egg: {shape: ellipsoid, radii: [0.1, 0.15, 0.25], mass: 1, position: [12.6, 0, 0]}
  wedge: {shape: mesh, scale: [1, 1, -1], vertices: [[0, 0, 0], [0.4, 0, 0], [0, 0.3, 0], [0, 0, 0.5]], triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], mass: 1, position: [13.2, 0, 0]}
  several:
    mass: 1
    shapes: [{type: box, size: [0.3, 0.1, 0.1], colour: "#ff8800"}, {type: mesh, position: [0, 0.2, 0], vertices: [[0, 0, 0], [0.4, 0, 0], [0, 0.3, 0], [0, 0, 0.5]], triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]}]
    position: [14, 0, 0]
joints:
  revolute: {type: revolute, between: [ground, box], point: [-0.25, 0, 0], axis: [0, 1, 0]}
  prismatic: {type: prismatic, between: [ground, cylinder], point: [1.2, 0, 0], axis: [0, 1, 0], v: 0.3}
  screw: {type: screw, between: [ground, sphere], point: [2.4, 0, 0], axis: [0, 0, 1], lead: 50 mm, v: 6}
  cylindrical: {type: cylindrical, between: [ground, cone], point: [3.6, 0, 0], axis: [0, 1, 0], v: [0.2, 3]}
  universal: {type: universal, between: [ground, rod], point: [4.8, 0, 0], axes: [[1, 0, 0], [0, 1, 0]]}
  spherical: {type: spherical, between: [ground, tetra], point: [6, 0, 0], v: [1, 0, 2]}
  planar: {type: planar, between: [ground, plain], point: [7.2, 0, 0], normal: [0, 1, 0]}
  translation: {type: translation, between: [ground, slab], axes: [[1, 0, 0], [0, 1, 0]], v: [0.1, 0.2]}
  free: {type: free, between: [ground, cart], point: [9.6, 0, 0], v: [0, 0, 1, 1, 2, 0]}
  weld: {type: weld, between: [ground, stuck], point: [10.8, 0, 0]}
  pill: {type: revolute, between: [ground, pill], point: [12, 0, 0.2], axis: [0, 1, 0]}
  egg: {type: revolute, between: [ground, egg], point: [12.6, 0, 0.2], axis: [0, 1, 0]}
  wedge: {type: revolute, between: [ground, wedge], point: [13.2, 0, 0.2], axis: [0, 1, 0]}
  several: {type: revolute, between: [ground, several], point: [14, 0, 0.2], axis: [0, 1, 0]}
forces:
  coil: {type: spring, between: [ground, box], points: [[0.3, 0, 1], [0.2, 0, 0]], stiffness: 60, damping: 1}
  damper: {type: spring, between: [ground, plain], points: [[7.2, 0, 1], [7.2, 0.1, -0.3]], damping: 8, stiffness: 0}
  rubber: {type: bushing, between: [ground, cart], point: [9.6, 0, 0], stiffness: [400, 400, 400, 4, 4, 4], damping: [4, 4, 4, 0.1, 0.1, 0.1]}
  push: {type: applied, body: slab, point: [8.4, 0, 0], force: ["sin(4*t)", 0, 0]}
  wind: {type: torsion, joint: revolute, stiffness: 2}
  motor: {type: drive, joint: prismatic, force: "2*sin(3*t)"}
run: {end: 3}
"""
LARGE = """
linkwork: 1
name: five hundred bodies
bodies:
  link{i}: {repeat: {i: 1..500}, shape: rod, points: [["i/50", 0, 0], ["i/50", 0, -1 - 0.5*sin(i/25)]], mass: 1}
joints:
  pin{i}: {repeat: {i: 1..500}, type: revolute, between: [ground, "link{i}"], point: ["i/50", 0, 0], axis: [1, 0, 0], q: 0.5}
run: {end: 2, tolerance: 1e-5}
"""
HAMMER = """
linkwork: 1
name: a hammer that is lifted and falls
inputs: {lift: 30 N}
bodies:
  hammer: {mass: 2 kg, shape: box, size: [0.1, 0.1, 0.2]}
joints:
  guide: {type: prismatic, between: [ground, hammer], axis: [0, 0, 1]}
forces:
  drive: {type: drive, joint: guide, force: lift}
  pull: {type: applied, body: hammer, point: [0, 0, 0.1], force: [0, 0, lift/10]}
outputs:
  height: {value: guide.q, unit: mm}
events:
  top: {when: guide.q - 0.5, direction: up, do: {set: {lift: 0 N}}}
  "highest <b>": {when: guide.v, direction: down, do: note}
  done: {when: t - 1.2 s, do: stop}
run: {end: 2 s}
"""
NAMES = """
linkwork: 1
name: "</script><script>document.title='broken'</script> <!-- \\"quoted\\" & 'so' 🦾 מנוף"
bodies:
  "</script>": {kind: point, mass: 1, com: [1, 0, 0]}
  "ذراع 🚀": {kind: point, mass: 2, com: [2, 0, 0]}
  "<img src=x onerror=alert(1)>": {kind: point, mass: 1, com: [3, 0, 0]}
joints:
  "a & b": {type: revolute, between: [ground, "</script>"], point: [0, 0, 0], axis: [0, 1, 0]}
  "מפרק": {type: revolute, between: ["</script>", "ذراع 🚀"], point: [1, 0, 0], axis: [0, 1, 0]}
  "<!--": {type: revolute, between: ["ذراع 🚀", "<img src=x onerror=alert(1)>"], point: [2, 0, 0], axis: [0, 1, 0]}
run: {end: 2}
"""
PROBLEMS = ["four_bar", "stewart_platform", "double_wishbone", "andrews_squeezer", "scissor", "gantry", "cylindrical_pair",
            "spatial_slider_crank", "tumbling_body", "six_body_linkage", "series_damper", "net", "crank_stop"]


class Case:
    """A page, the results of the same run, and what is special about it."""

    def __init__(self, program, folder, name, model, view=(), run=True):
        self.name, self.page = name, os.path.join(folder, name + ".html")
        self.results = os.path.join(folder, name + ".csv") if run else None
        made = subprocess.run([program, "view", model, "--out", self.page, "--quiet", *view], stderr=subprocess.PIPE)
        expect(made.returncode == 0, f"{name}: linkwork view ends with {made.returncode}: {made.stderr.decode()}")
        if run:
            subprocess.run([program, "run", model, "--out", self.results, "--quiet", "--record", "joint, pose, ledger"], stderr=subprocess.PIPE)

    def table(self):
        if not hasattr(self, "rows"):
            lines = [line for line in open(self.results, encoding="utf-8") if not line.startswith("#")]
            rows = list(csv.reader(lines))
            self.names = [h.rsplit(" [", 1)[0] for h in rows[0]]
            self.rows = [[float(x) if x else math.nan for x in row] for row in rows[1:]]
        return self.names, self.rows


# --- tests -------------------------------------------------------------------------------------------------------------------

def rotate(q, p):
    w, x, y, z = q
    tx, ty, tz = 2 * (y * p[2] - z * p[1]), 2 * (z * p[0] - x * p[2]), 2 * (x * p[1] - y * p[0])
    return [p[0] + w * tx + y * tz - z * ty, p[1] + w * ty + z * tx - x * tz, p[2] + w * tz + x * ty - y * tx]


PIXELS = """
const out = linkwork.picture(), g = out.getContext('2d'), all = g.getImageData(0, 0, out.width, out.height).data;
const seen = new Set();
for (let k = 0; k < all.length; k += 4 * 7) seen.add((all[k] >> 4) * 256 + (all[k + 1] >> 4) * 16 + (all[k + 2] >> 4));
return [seen.size, out.width, out.height];"""

# The colour at the centre of a body with the body shown and hidden: they differ where it is on the screen.
AT_BODY = """
const [name, point] = arguments, L = linkwork, stage = L.app.stage, b = L.motions[0].model.bodies.findIndex(o => o.name === name);
const [x, y] = L.project(L.body(name, point)), look = () => {
  const out = L.picture(), g = out.getContext('2d'), r = stage.ratio;
  return [...g.getImageData(Math.round(x * r), Math.round(y * r), 1, 1).data];
};
const rest = stage.groups.filter((g, k) => k !== b);
const others = stage.root.children.filter(c => c !== stage.groups[b] && c.visible && c !== stage.floor);
others.forEach(c => { c.visible = false; });
const on = look();
stage.groups[b].visible = false;
const off = look();
stage.groups[b].visible = true;
others.forEach(c => { c.visible = true; });
stage.dirty = true;
return { at: [x, y], size: [stage.w, stage.h], change: on.reduce((s, v, k) => s + Math.abs(v - off[k]), 0) };"""


# How far from the middle of the picture, relative to its half, points of bodies come during the whole motion.
FRAMED = """
const L = linkwork, stage = L.app.stage, v = stage.camera.position.clone();
let most = [0, ''];
for (let k = 0; k <= 12; k++) {
  stage.place(L.timeline.start + (L.timeline.end - L.timeline.start) * k / 12);
  stage.scene.updateMatrixWorld(true);
  stage.camera.updateMatrixWorld(true);
  stage.groups.forEach((g, b) => { if (b > 0) for (const mesh of g.children) {
    if (!mesh.userData || mesh.userData.kind !== 'body') continue;
    const p = mesh.geometry.attributes.position;
    for (let i = 0; i < p.count; i += Math.max(1, Math.floor(p.count / 60))) {
      v.fromBufferAttribute(p, i).applyMatrix4(mesh.matrixWorld).project(stage.camera);
      const far = Math.max(Math.abs(v.x), Math.abs(v.y));
      if (far > most[0]) most = [far, stage.model.bodies[b].name];
    }
  } });
}
return most;"""


def check_scene(browser, case):
    far, name = browser.run(FRAMED)
    expect(0.3 < far < 1.03, f"{case.name}: {name} comes to {far:.2f} of the half picture from its middle")
    colours, width, height = browser.run(PIXELS)
    expect(colours > 12 and width > 300 and height > 200, f"{case.name}: the scene is empty: {colours} colours")


def check_bodies(browser, case):
    """At three times: positions in the page are those of the results, and the pixel at the centre shows the body."""
    names, rows = case.table()
    bodies = browser.run("return linkwork.motions[0].model.bodies.slice(1).map(b => [b.name, b.com])")
    size = browser.run("return linkwork.app.stage.size")
    picked = bodies[:: max(1, len(bodies) // 4)][:4]
    for part in (0.1, 0.45, 0.93):
        row = rows[round(part * (len(rows) - 1))]
        browser.run("linkwork.go(arguments[0])", row[0])
        for name, com in picked:
            at = [row[names.index(f"body.{name}.{c}")] for c in "xyz"]
            q = [row[names.index(f"body.{name}.q{c}")] for c in "wxyz"]
            true = [a + b for a, b in zip(at, rotate(q, com))]
            here = browser.run("return linkwork.body(arguments[0])", name)
            # two interpolations: of the page's poses, and, between its own samples, of the run's
            expect(math.dist(true, here) < 1.2e-3 * size, f"{case.name}: {name} at t = {row[0]}: {here}, the results say {true}")
        name, com = picked[0]
        seen = browser.run(AT_BODY, name, com)
        inside = 0 <= seen["at"][0] <= seen["size"][0] and 0 <= seen["at"][1] <= seen["size"][1]
        expect(inside, f"{case.name}: {name} at t = {row[0]} is off the screen: {seen['at']}")
        expect(seen["change"] > 12 or not inside, f"{case.name}: {name} is not at {seen['at']} at t = {row[0]}")


def check_time(browser, case):
    end = browser.run("return linkwork.timeline.end")
    browser.run("document.body.focus(); linkwork.timeline.pause(); document.activeElement.blur()")
    browser.keys("End")
    expect(browser.run("return linkwork.timeline.t") == end, f"{case.name}: End does not go to the end")
    browser.keys("Home")
    expect(browser.run("return linkwork.timeline.t") == browser.run("return linkwork.timeline.start"), f"{case.name}: Home does not go to the start")
    browser.keys("ArrowRight", "ArrowRight", "ArrowLeft")
    t = browser.run("return linkwork.timeline.t")
    expect(0 < t < 0.05 * end, f"{case.name}: steps lead to {t}")
    browser.keys(" ")
    for _ in range(40):
        time.sleep(0.1)
        if browser.run("return linkwork.timeline.t") != t:
            break
    browser.keys(" ")
    later = browser.run("return [linkwork.timeline.t, linkwork.timeline.playing]")
    expect(later[0] != t and not later[1], f"{case.name}: the space bar does not play and pause: {later}")
    browser.run("const s = document.getElementById('scrub'); s.value = 0.5 * Number(s.max); s.dispatchEvent(new Event('input'))")
    expect(abs(browser.run("return linkwork.timeline.t") - 0.5 * end) < 1e-3 * end, f"{case.name}: scrubbing does not move time")


def check_plots(browser, case):
    names, rows = case.table()
    shown = browser.run("return linkwork.board.plots.map(p => p.names)")
    expect(shown and all(shown), f"{case.name}: no plots")
    for name in [n for panel in shown for n in panel if n in names and n != "unaccounted"][:6]:
        k = names.index(name)
        scale = max(abs(r[k]) for r in rows) or 1
        for part in (0.2, 0.7):
            row = rows[round(part * (len(rows) - 1))]
            here = browser.run("return linkwork.motions[0].valueAt(arguments[0], arguments[1])", name, row[0])
            expect(abs(here - row[k]) < 2e-3 * scale, f"{case.name}: plot of {name} at {row[0]}: {here}, the results say {row[k]}")
    ink = browser.run("""const c = document.querySelector('.canvases canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let k = 3; k < d.length; k += 4) n += d[k] > 0; return n / (c.width * c.height)""")
    expect(ink > 0.01, f"{case.name}: the first plot is empty")


CONTRAST = r"""
const lum = c => { const v = c.map(x => { x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4 });
                   return .2126 * v[0] + .7152 * v[1] + .0722 * v[2] };
const rgb = s => s.match(/[\d.]+/g).map(Number);
const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
                      if (c.length < 4 || c[3] > 0) return c.slice(0, 3) } return [255, 255, 255] };
const bad = new Set();
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('svg,script,noscript,option') || e.disabled || !e.getClientRects().length) continue;
  if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
  const a = lum(rgb(getComputedStyle(e).color).slice(0, 3)), b = lum(behind(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) bad.add(e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 20) + ' ' + ratio.toFixed(2));
}
const p = linkwork.theme.colours, hex = h => [1, 3, 5].map(k => parseInt(h.slice(k, k + 2), 16)), panel = lum(hex(p.panel));
for (const c of p.curves) { const a = lum(hex(c)); const ratio = (Math.max(a, panel) + .05) / (Math.min(a, panel) + .05); if (ratio < 3) bad.add('curve ' + c + ' ' + ratio.toFixed(2)); }
return [...bad];"""

OVERLAPS = r"""
const bad = [], box = e => e.getBoundingClientRect();
const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
for (const parent of document.querySelectorAll('#app, header, .tools, #time, .buttons, #tabs, #views, [role=tabpanel], .plot, .plot-head, .row, #legend')) {
  const children = [...parent.children].filter(e => box(e).width > 0 && box(e).height > 0);
  for (let i = 0; i < children.length; i++) for (let j = i + 1; j < children.length; j++)
    if (meet(box(children[i]), box(children[j])) && getComputedStyle(children[i]).position !== 'sticky' && getComputedStyle(children[j]).position !== 'sticky')
      bad.push(parent.id + '.' + parent.className + ': ' + (children[i].id || children[i].textContent.slice(0, 20)) + ' | ' + (children[j].id || children[j].textContent.slice(0, 20)));
}
const views = box(document.getElementById('views'));
for (const e of document.querySelectorAll('#legend > div')) if (meet(box(e), views)) bad.push('legend over camera buttons');
return bad;"""


def check_looks(browser, case, folder, sizes=((360, 740), (1280, 800), (1920, 1080)), schemes=("light", "dark")):
    for width, height in sizes:
        for scheme in schemes:
            browser.look(width, height, scheme)
            browser.open(case.page, "t=0&show=shadow:0_reactions:1")
            browser.run("linkwork.go(0.3 * linkwork.timeline.end)")
            where = f"{case.name}, {scheme}, {width} px"
            wide = browser.run("return document.documentElement.scrollWidth")
            expect(wide <= width, f"{where}: the page is {wide} px wide")
            for tab in ("plots", "run", "show", "parts"):
                browser.run("document.getElementById('tab-' + arguments[0]).click()", tab)
                for text in browser.run(OVERLAPS):
                    expect(False, f"{where}, {tab}: overlap: {text}")
                for text in browser.run(CONTRAST):
                    expect(False, f"{where}, {tab}: faint: {text}")
            browser.run("document.getElementById('tab-plots').click()")
            dark = browser.run("return document.documentElement.dataset.theme")
            expect(dark == scheme, f"{where}: the theme is {dark}")
            time.sleep(0.2)
            browser.screenshot(os.path.join(folder, f"{case.name}_{width}_{scheme}.png"))
    browser.look(1280, 800, "light")


def check_keyboard(browser, case):
    """Tab reaches every control that is shown."""
    browser.open(case.page)
    wanted = browser.run("""window.visited = new Set(); document.addEventListener('focusin', e => visited.add(e.target));
        window.wanted = [...document.querySelectorAll('button,select,input,summary,canvas[tabindex]')].filter(e => !e.disabled && e.tabIndex >= 0 && e.getClientRects().length);
        return wanted.length""")
    for _ in range(wanted + 8):
        browser.keys("Tab")
    missed = browser.run("return wanted.filter(e => !visited.has(e)).map(e => e.id || e.title || e.textContent)")
    expect(not missed, f"{case.name}: Tab does not reach {missed}")
    names = browser.run("""return [...document.querySelectorAll('button,select,input')].filter(e => e.getClientRects().length &&
        !(e.getAttribute('aria-label') || e.textContent.trim() || e.title || e.labels && e.labels.length)).map(e => e.outerHTML.slice(0, 80))""")
    expect(not names, f"{case.name}: controls without a name: {names}")


def check_share(browser, case):
    browser.open(case.page)
    browser.run("linkwork.go(0.25 * linkwork.timeline.end)")
    text = browser.run("return linkwork.board.csv()")
    rows = list(csv.reader(text.splitlines()))
    names, table = case.table()
    expect(rows[0][0] == "t [s]" and len(rows) > 10, f"{case.name}: the table has {len(rows)} rows")
    k = names.index(rows[0][1].rsplit(" [", 1)[0])
    near = min(table, key=lambda r: abs(r[0] - float(rows[5][0])))
    expect(abs(float(rows[5][1]) - near[k]) < 2e-3 * max(abs(r[k]) for r in table), f"{case.name}: CSV {rows[5][:2]}, results {near[0], near[k]}")
    # state in the address: the same view again
    browser.run("linkwork.app.stage.orbit(0.7, 0.2, 0.8); linkwork.board.zoom(0, 0.5 * linkwork.timeline.end); linkwork.app.changed()")
    time.sleep(0.7)
    state = browser.run("return location.hash.slice(1)")
    before = browser.run("const s = linkwork.app.stage; return [...s.camera.position.toArray(), linkwork.timeline.t, linkwork.board.x1]")
    browser.open(case.page, state)
    after = browser.run("const s = linkwork.app.stage; return [...s.camera.position.toArray(), linkwork.timeline.t, linkwork.board.x1]")
    expect(all(abs(a - b) < 1e-3 * (1 + abs(b)) for a, b in zip(after, before)), f"{case.name}: the address leads to {after}, not {before}")


def check_large(browser, case):
    """What a picture of many bodies costs: calls of the graphics interface, and time to place everything."""
    calls, ms, bodies = browser.run("""const L = linkwork, s = L.app.stage; s.draw(); const t0 = performance.now();
        for (let k = 0; k < 50; k++) s.place(L.timeline.end * k / 50);
        const ms = (performance.now() - t0) / 50; s.renderer.info.autoReset = true; s.draw(); return [s.renderer.info.render.calls, ms, L.motions[0].model.bodies.length - 1]""")
    expect(bodies == 500 and calls < 4 * bodies, f"{case.name}: {calls} calls of the graphics interface")
    expect(ms < 16, f"{case.name}: placing {bodies} bodies takes {ms:.1f} ms")
    print(f"{case.name}: {calls} draw calls, {ms:.2f} ms to place {bodies} bodies")


def check_trail(browser, case):
    """A click on a body offers a trail of that point, which then passes there and stays in the address."""
    browser.open(case.page, "t=0&show=shadow:0&trails=")
    name, com = browser.run("const b = linkwork.motions[0].model.bodies[3]; return [b.name, b.com]")
    x, y = browser.run("return linkwork.project(linkwork.body(arguments[0]))", name)
    box = browser.run("const b = document.getElementById('gl').getBoundingClientRect(); return [b.left, b.top]")
    for kind in ("mousePressed", "mouseReleased"):
        browser.devtools("Input.dispatchMouseEvent", type=kind, x=box[0] + x, y=box[1] + y, button="left", clickCount=1)
    found = browser.run("""const b = [...document.querySelectorAll('#panel-parts .card button')].find(e => e.textContent === 'Trail of this point');
        if (b) b.click(); return [!!b, document.querySelector('#panel-parts .card b').textContent, [...linkwork.app.stage.trails]]""")
    expect(found[0] and found[1] == name and len(found[2]) == 1 and found[2][0].startswith("3:"), f"{case.name}: no trail of the point clicked: {found}")
    if found[2]:
        point = [float(v) for v in found[2][0].split(":")[1:]]
        size = browser.run("return linkwork.app.stage.size")
        at = browser.run("return linkwork.project(linkwork.body(arguments[0], arguments[1]))", name, point)
        expect(math.dist(at, (x, y)) < 2 and math.dist(point, com) < 0.1 * size, f"{case.name}: the trail's point is at {at}, clicked was {x, y}")
        time.sleep(0.6)
        browser.open(case.page, browser.run("return location.hash.slice(1)"))
        expect(browser.run("return [...linkwork.app.stage.trailLines.keys()]") == found[2], f"{case.name}: the trail is not in the address")


def check_frame(browser, case):
    """The script of one picture of 300 bodies: placing everything, cursors of the plots; and the calls that draw, without the drawing
    itself. Other processes make single pictures slower, so the fastest of many counts."""
    browser.open(case.page)
    browser.run("""window.took = []; const L = linkwork, s = L.app.stage, gl = s.renderer.getContext(); gl.drawElements = gl.drawArrays = () => {};
        const one = () => { const a = performance.now(); L.timeline.go(L.timeline.end * (took.length % 40) / 40); const b = performance.now(); s.draw();
          took.push([b - a, performance.now() - b]); if (took.length < 60) requestAnimationFrame(one); };
        requestAnimationFrame(one);""")
    for _ in range(120):
        time.sleep(0.25)
        if browser.run("return took.length") >= 60:
            break
    took = browser.run("return took")
    update, draw = (sorted(t[k] for t in took) for k in (0, 1))
    bodies = browser.run("return linkwork.motions[0].model.bodies.length - 1")
    print(f"{case.name}: {bodies} bodies: update {update[0]:.1f} ms (median {update[len(update) // 2]:.1f}), calls that draw {draw[0]:.1f} ms "
          f"(median {draw[len(draw) // 2]:.1f})")
    expect(bodies == 300 and update[0] < 4, f"{case.name}: the script of a picture takes {update[0]:.1f} ms")


def check_events(browser, case):
    """Events are marked on the bar, named on focus, in the list and in the plots; outputs are plotted."""
    browser.open(case.page)
    wanted = ["top: sets lift", "highest <b>", "done: the run stops"]
    labels = browser.run("return [...document.querySelectorAll('#marks button')].map(e => e.getAttribute('aria-label'))")
    expect([text.split(" s: ")[1] for text in labels] == wanted, f"{case.name}: marks {labels}")
    times = browser.run("return linkwork.motions[0].about.events.map(e => e.t)")
    for k, text in enumerate(wanted):
        at = browser.run("""const m = document.querySelectorAll('#marks button')[arguments[0]], b = document.getElementById('scrub').getBoundingClientRect();
            m.focus(); const tip = document.getElementById('mark-tip'), t = tip.getBoundingClientRect(), c = m.getBoundingClientRect();
            return [tip.hidden, tip.textContent, (c.left + c.width / 2 - b.left - 8) / (b.width - 16), t.left >= 0 && t.right <= innerWidth]""", k)
        expect(not at[0] and text in at[1] and at[3], f"{case.name}: the name of {text} is not shown: {at}")
        expect(abs(at[2] - times[k] / 1.2) < 0.02, f"{case.name}: {text} is marked at {at[2]} of the bar, not {times[k] / 1.2}")
        browser.run("document.activeElement.click()")
        expect(abs(browser.run("return linkwork.timeline.t") - times[k]) < 1e-9, f"{case.name}: a click on {text} does not go there")
    browser.run("document.activeElement.blur(); linkwork.go(0)")
    browser.keys("]")
    expect(abs(browser.run("return linkwork.timeline.t") - times[0]) < 1e-9, f"{case.name}: ] does not go to the next event")
    listed = browser.run("return [...document.querySelectorAll('#panel-run .list bdi')].map(e => e.textContent)")
    expect(listed == wanted, f"{case.name}: list {listed}")
    panels = browser.run("return linkwork.board.plots.map(p => p.names)")
    expect(panels[0] == ["height"], f"{case.name}: the output is not plotted first: {panels}")
    red = browser.run("""const B = linkwork.board, p = B.plots[0], c = p.base, a = p.area, r = c.width / c.clientWidth;
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        return B.events.map(e => {
          const x = Math.round((a.left + (e.t - B.x0) / (B.x1 - B.x0) * (a.right - a.left)) * r);
          let n = 0;
          for (let i = x - 2; i < x + 2; i++) for (let j = Math.ceil(a.top * r); j < a.bottom * r; j++) { const k = 4 * (j * c.width + i); n += d[k + 3] > 60 && d[k] > d[k + 2] + 60; }
          return n;
        })""")
    expect(len(red) == 3 and min(red) > 20, f"{case.name}: events are not in the plot: {red}")


def check_picture(program, model, folder):
    out = os.path.join(folder, "shot.html")
    made = subprocess.run([program, "view", model, "--out", out, "--quiet", "--png", "0.4", "--size", "640x400"], stderr=subprocess.PIPE)
    expect(made.returncode == 0, f"--png: exit status {made.returncode}: {made.stderr.decode()}")
    png = os.path.join(folder, "shot.png")
    data = open(png, "rb").read() if os.path.exists(png) else b""
    good = data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (640, 400)
    expect(good, "--png: no picture of 640 x 400")
    if good:
        body = b"".join(data[m.start() + 4:m.start() + 4 + struct.unpack(">I", data[m.start() - 4:m.start()])[0]] for m in re.finditer(b"IDAT", data))
        expect(len(set(zlib.decompress(body)[::97])) > 20, "--png: the picture is empty")


def main():
    program = os.path.abspath(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    start = time.time()

    def model(name, text):
        path = os.path.join(folder, name + ".yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    cases = [Case(program, folder, name, os.path.join(SOURCE, "problems", name, "model.yaml")) for name in PROBLEMS]
    everything = Case(program, folder, "everything", model("everything", EVERYTHING))
    names = Case(program, folder, "names", model("names", NAMES))
    large = Case(program, folder, "large", model("large", LARGE), run=False)
    small = Case(program, folder, "three_hundred", model("three_hundred", LARGE.replace("five", "three").replace("500", "300")), run=False)
    hammer = Case(program, folder, "hammer", model("hammer", HAMMER))
    four_bar = os.path.join(SOURCE, "problems", "four_bar", "model.yaml")
    still = Case(program, folder, "still", four_bar, view=["--still"], run=False)
    lines = open(cases[0].results, encoding="utf-8").read().splitlines()
    head = [k for k, line in enumerate(lines) if not line.startswith("#")][0]
    one = os.path.join(folder, "one_sample.csv")
    with open(one, "w", encoding="utf-8") as file:
        file.write("\n".join(lines[:head + 2]) + "\n")
    single = Case(program, folder, "single", one, run=False)
    other = os.path.join(folder, "other.csv")
    subprocess.run([program, "run", four_bar, "--out", other, "--quiet", "--end", "3", "--tol", "1e-3"])
    two = os.path.join(folder, "two.html")
    made = subprocess.run([program, "view", cases[0].results, other, "--out", two, "--quiet"])
    expect(made.returncode == 0, "two runs are not compared")
    print(f"{len(cases) + 8} pages in {time.time() - start:.0f} s", flush=True)

    browser = Browser()
    try:
        browser.look(800, 520, "light")
        for case in cases + [everything, names, hammer]:
            began = time.time()
            browser.open(case.page, "t=0&show=shadow:0") # which software draws four times as fast
            check_scene(browser, case)
            check_bodies(browser, case)
            check_plots(browser, case)
            for text in browser.complaints():
                expect(False, f"{case.name}: console: {text}")
            print(f"{case.name}: {time.time() - began:.1f} s", flush=True)
        check_time(browser, names)
        for case in (large, still, single):
            browser.open(case.page)
            check_scene(browser, case)
            if case is large:
                check_large(browser, case)
            else:
                expect(browser.run("return document.getElementById('play').disabled"), f"{case.name}: plays without time")
                browser.keys("End", "Home", "ArrowRight", " ")
            browser.screenshot(os.path.join(folder, case.name + ".png"))
            for text in browser.complaints():
                expect(False, f"{case.name}: console: {text}")
        check_frame(browser, small)
        check_events(browser, hammer)
        check_trail(browser, cases[0])
        browser.open(names.page)
        page = browser.run("return [document.title, document.getElementById('title').textContent, document.querySelectorAll('img').length, getComputedStyle(document.querySelector('bdi')).unicodeBidi]")
        expect(page[0] == page[1] and page[0].startswith("</script>") and page[2] == 0 and page[3] == "isolate", f"names: {page}")
        browser.open(two)
        far = browser.run("const y = linkwork.motions[0].dense('largest distance of a body'); return [y[0], Math.max(...y.filter(Number.isFinite)), linkwork.app.stage.ghosts.length]")
        expect(far[0] < 1e-9 and 1e-6 < far[1] < 5 and far[2] == 4, f"two: distances {far}")
        browser.screenshot(os.path.join(folder, "two.png"))
        check_time(browser, cases[0])
        check_share(browser, cases[0])
        check_keyboard(browser, cases[1])
        check_looks(browser, cases[0], folder)
        check_looks(browser, everything, folder, ((360, 740),), ("dark",))
        check_looks(browser, hammer, folder, ((360, 740),))
        for text in browser.complaints():
            expect(False, f"console: {text}")
    finally:
        browser.close()
    check_picture(program, four_bar, folder)
    print(f"{len(cases) + 8} mechanisms, {time.time() - start:.0f} s, {len(faults)} faults; screenshots in {folder}")
    return 1 if faults else 0


sys.exit(main())
