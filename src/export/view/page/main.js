// main.js - puts the page together: data, scene, time, panels, keys, and the state in the address.

const data = JSON.parse(byId('data').textContent);
const motions = data.views.map(view => new Motion(view));
motions.forEach((m, k) => { if (!m.label) m.label = m.about.source || m.about.method || `motion ${k + 1}`; });
if (motions[1]) addDifferences(motions[0], motions[1]);

const app = { motions, stage: null, select, plot, changed };
const hash = new URLSearchParams(location.hash.slice(1));
theme.set(hash.get('theme') || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
if (hash.get('picture')) document.body.classList.add('picture');

function title() {
  const m = motions[0], parts = [];
  byId('title').textContent = data.title || 'mechanism';
  if (motions.length > 1) parts.push(`${motions[0].label} (solid) and ${motions[1].label} (ghost)`);
  else if (m.about.method) parts.push(`${m.about.method}, ${m.about.integrator || ''}`.replace(/, $/, ''));
  const count = (n, word) => `${n} ${n === 1 ? word : word === 'body' ? 'bodies' : `${word}s`}`;
  parts.push(`${count(m.model.bodies.length - 1, 'body')}, ${count(m.model.joints.length, 'joint')}${m.model.loops.length ? `, ${count(m.model.loops.length, 'loop')}` : ''}`);
  byId('subtitle').textContent = parts.join(' · ');
  const doubtful = motions.some(o => o.about.failure || (o.about.summary && !o.about.summary.ok)), known = motions.every(o => o.about.summary || o.about.failure);
  const chip = byId('verdict');
  chip.hidden = !known;
  chip.className = doubtful ? 'doubt' : 'ok';
  chip.textContent = motions.some(o => o.about.failure) ? 'ended early' : doubtful ? 'doubtful' : 'verdict: ok';
  chip.title = 'What the checks of the run say';
}

// The panels that open by themselves: coordinates by unit, energies, what differs.
function defaultPanels() {
  const m = motions[0], panels = [], names = [...m.columns.values()];
  if (motions[1]) panels.push(['largest distance of a body']);
  const joints = new Set(m.model.joints.map(j => j.name)), own = name => joints.has(name.slice(0, name.lastIndexOf('.')));
  const range = name => { const y = m.dense(name).filter(Number.isFinite); return y.length ? y.reduce((a, v) => Math.max(a, v), -Infinity) - y.reduce((a, v) => Math.min(a, v), Infinity) : 0; };
  // Coordinates that do not change tell nothing, unless there is no time.
  const coordinates = unit => {
    const list = names.filter(c => c.unit === unit && own(c.name) && !c.derived && !/\(difference\)$/.test(c.name)).slice(0, 200).map(c => c.name);
    const most = list.reduce((s, name) => Math.max(s, range(name)), 0);
    return m.end > m.start ? list.filter(name => range(name) > 1e-6 * most) : list;
  };
  const byUnit = new Map();
  for (const name of m.model.outputs) if (m.columns.has(name)) byUnit.set(m.columns.get(name).unit, [...(byUnit.get(m.columns.get(name).unit) || []), name]);
  for (const list of [...byUnit.values()].slice(0, 4)) panels.push(list.slice(0, 6));
  for (const unit of ['rad', 'm']) { const list = coordinates(unit); if (list.length) panels.push(list.slice(0, 6)); }
  if (!panels.length) { const list = coordinates('rad/s'); if (list.length) panels.push(list.slice(0, 6)); }
  if (m.columns.has('total')) panels.push(['kinetic', 'potential', 'total']);
  if (m.columns.has('unaccounted')) panels.push(['unaccounted']);
  if (m.model.loops.length + m.model.constraints.length && m.columns.has('position_violation')) panels.push(['position_violation']);
  if (!panels.length && names.length) panels.push(names.slice(0, 3).map(c => c.name));
  return panels;
}

// --- parts of the page -----------------------------------------------------------------------------------------------

title();
const timeline = new Timeline(motions, onTime);
const board = new Board(byId('panel-plots'), motions, t => { timeline.pause(); timeline.go(t); }, changed);
try {
  app.stage = new Stage(byId('gl'), motions);
} catch (fault) {
  byId('no-webgl').hidden = false;
  console.warn(fault.message);
}
const stage = app.stage;
const runPanel = new RunPanel(byId('panel-run'), motions, t => { timeline.pause(); timeline.go(t); });
const showPanel = new ShowPanel(byId('panel-show'), stage, changed);
const partsPanel = new PartsPanel(byId('panel-parts'), motions[0].model, stage, app);
const tabs = new Tabs([['plots', 'Plots'], ['run', 'Run'], ['show', 'Show'], ['parts', 'Parts']]);

function onTime(t) {
  if (stage) stage.place(t);
  if (tabs.now === 'plots') board.setTime(t); else board.time = t;
  if (tabs.now === 'run') runPanel.setTime(t);
}
tabs.onChange = id => {
  if (id === 'plots') { board.time = timeline.t; board.draw(); }
  if (id === 'run') runPanel.setTime(timeline.t);
  changed();
};

function select(pick, quiet) {
  if (stage) { stage.selected = pick; stage.marking(); }
  partsPanel.select(pick);
  if (pick && !quiet && tabs.now !== 'parts') tabs.open('parts');
  changed();
}
function plot(names) {
  const old = board.plots.find(p => p.names.join() === names.join());
  if (!old) board.set([...board.plots.map(p => p.names), names]);
  tabs.open('plots');
  board.list.lastElementChild.scrollIntoView({ block: 'nearest' });
}

// --- state in the address ----------------------------------------------------------------------------------------------

const initial = stage ? { ...stage.show } : {};
let writing = 0;
function state() {
  const s = new URLSearchParams();
  s.set('t', String(Number(timeline.t.toPrecision(8))));
  if (timeline.playing) s.set('play', '1');
  s.set('speed', String(timeline.speed));
  if (!timeline.again) s.set('loop', '0');
  s.set('theme', theme.name);
  if (tabs.now !== 'plots') s.set('tab', tabs.now);
  if (board.x0 > board.start || board.x1 < board.end) s.set('zoom', [board.x0, board.x1].map(x => Number(x.toPrecision(8))).join('_'));
  s.set('plots', JSON.stringify(board.plots.map(p => p.names)));
  if (stage) {
    const v = [...stage.camera.position.toArray(), ...stage.controls.target.toArray()].map(x => Number(x.toPrecision(5)));
    s.set('camera', v.join('_'));
    const changes = Object.keys(initial).filter(k => stage.show[k] !== initial[k]).map(k => `${k}:${Number(stage.show[k])}`);
    if (changes.length) s.set('show', changes.join('_'));
    if (stage.follow > 0) s.set('follow', stage.follow);
    if (stage.loop >= 0) s.set('ring', stage.loop);
    s.set('trails', [...stage.trails].join('_'));
    if (stage.selected) s.set('part', `${stage.selected.kind}_${stage.selected.index}`);
  }
  return s;
}
function changed() {
  clearTimeout(writing);
  writing = setTimeout(() => {
    if (hash.get('picture')) return;
    try { history.replaceState(null, '', `#${state()}`); } catch (_) { /* some browsers forbid it for files; the link button still works */ }
  }, 400);
}
timeline.onChange = changed;

function restore() {
  if (stage) {
    for (const part of (hash.get('show') || '').split('_')) {
      const [key, value] = part.split(':');
      if (key in initial) stage.show[key] = key === 'scale' ? Number(value) : value === '1';
    }
    const body = Number(hash.get('follow')), ring = Number(hash.get('ring') || -1), n = stage.model.bodies.length;
    if (body > 0 && body < n) stage.follow = body;
    if (ring >= 0 && ring < stage.model.loops.length) stage.loop = ring;
    const trails = hash.has('trails') ? hash.get('trails').split('_').filter(Boolean) : defaultTrails();
    for (const key of trails) { stage.trails.add(key); stage.addTrail(key); }
    stage.visibility();
    stage.marking();
    showPanel.refresh(stage);
  }
  let panels = null;
  try { panels = JSON.parse(hash.get('plots')); } catch (_) { /* a damaged link shows the usual panels */ }
  const known = Array.isArray(panels) ? panels.filter(Array.isArray).map(p => p.filter(n => motions.some(m => m.columns.has(n)))).filter(p => p.length) : null;
  board.set(known || defaultPanels());
  const zoom = (hash.get('zoom') || '').split('_').map(Number);
  if (zoom.length === 2 && zoom.every(Number.isFinite) && zoom[1] > zoom[0]) board.zoom(zoom[0], zoom[1]);
  const speed = Number(hash.get('speed'));
  if (speeds.includes(speed)) { timeline.speed = speed; byId('speed').value = speed; }
  if (hash.get('loop') === '0') timeline.setLoop(false);
  if (['run', 'show', 'parts'].includes(hash.get('tab'))) tabs.open(hash.get('tab'));
  const [kind, index] = (hash.get('part') || '').split('_');
  const kinds = { body: motions[0].model.bodies, joint: motions[0].model.joints, force: motions[0].model.forces, constraint: motions[0].model.constraints };
  if (kinds[kind] && kinds[kind][Number(index)]) select({ kind, index: Number(index) }, true);
  const t = Number(hash.get('t'));
  timeline.go(hash.has('t') && Number.isFinite(t) ? t : timeline.start);
}

// The point that travels farthest leaves a trail, in mechanisms that are small enough for one to tell something.
function defaultTrails() {
  const m = motions[0], n = m.model.bodies.length - 1;
  if (n === 0 || n > 16 || stage.travels || !(m.end > m.start)) return [];
  let best = 0, most = 0.02 * stage.size;
  for (let b = 1; b <= n; b++) {
    const p = m.track(b, m.model.bodies[b].com, Array.from({ length: 60 }, (_, k) => m.start + (m.end - m.start) * k / 59)).map(vectorOf);
    const far = new THREE.Box3().setFromPoints(p).getSize(V(0, 0, 0)).length();
    if (far > most) { most = far; best = b; }
  }
  return best ? [String(best)] : [];
}

// --- pointer and keys ----------------------------------------------------------------------------------------------------

function tip(pick, x, y) {
  const box = byId('tip');
  box.hidden = !pick;
  if (!pick) return;
  const about = describe(motions[0].model, pick);
  box.replaceChildren(make('b', {}, named(about.title)), make('span', { className: 'soft', textContent: about.word }),
    ...about.rows.slice(0, 3).map(([k, v]) => make('div', {}, `${k}: `, named(String(v)))));
  const area = byId('scene').getBoundingClientRect();
  box.style.left = `${Math.min(x + 14, area.width - box.offsetWidth - 6)}px`;
  box.style.top = `${Math.max(4, Math.min(y + 14, area.height - box.offsetHeight - 6))}px`;
}
if (stage) {
  const canvas = byId('gl');
  let over = null, down = null;
  canvas.addEventListener('pointermove', e => { over = e.buttons ? null : e; if (e.buttons) tip(null); app.pointer = over; });
  canvas.addEventListener('pointerleave', () => { over = app.pointer = null; tip(null); });
  canvas.addEventListener('pointerdown', e => { down = [e.clientX, e.clientY]; });
  canvas.addEventListener('pointerup', e => {
    if (!down || Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 5) { changed(); return; }
    const box = canvas.getBoundingClientRect(), pick = stage.pick(e.clientX - box.left, e.clientY - box.top);
    select(pick && !(pick.kind === 'body' && pick.index === 0) ? pick : null);
  });
  canvas.addEventListener('wheel', changed, { passive: true });
  byId('views').addEventListener('click', e => {
    const view = e.target.dataset.view;
    if (view) { look(view); changed(); }
  });
}
function look(view) {
  if (!stage) return;
  if (view === 'home') stage.frame(stage.homeDirection());
  else if (view === 'fit') stage.frame(stage.camera.position.clone().sub(stage.controls.target));
  else stage.lookAlong(view);
}

function key(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
  const target = e.target, typing = target.matches('input[type=search],input[type=number],textarea');
  if (typing) return;
  const onControl = target.matches('button,select,summary,input[type=checkbox]') , onRange = target.matches('input[type=range]');
  const act = () => e.preventDefault();
  if (e.shiftKey && stage && e.key.startsWith('Arrow')) {
    const [yaw, pitch] = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[e.key];
    stage.orbit(yaw, pitch, 1); act(); changed(); return;
  }
  if (target.matches('select,[role=tab]') && e.key.startsWith('Arrow')) return;
  if (onRange && target.id !== 'scrub') return;
  switch (e.key) {
    case ' ': if (onControl) return; timeline.toggle(); break;
    case 'ArrowRight': timeline.step(1); break;
    case 'ArrowLeft': timeline.step(-1); break;
    case 'PageDown': timeline.step(1, 10); break;
    case 'PageUp': timeline.step(-1, 10); break;
    case 'Home': timeline.pause(); timeline.go(timeline.start); break;
    case 'End': timeline.pause(); timeline.go(timeline.end); break;
    case ']': timeline.toEvent(1); break;
    case '[': timeline.toEvent(-1); break;
    case '.': faster(1); break;
    case ',': faster(-1); break;
    case '+': case '=': if (stage) stage.orbit(0, 0, 0.85); break;
    case '-': if (stage) stage.orbit(0, 0, 1 / 0.85); break;
    case 'f': look('fit'); break;
    case 'h': look('home'); break;
    case '1': look('x'); break;
    case '2': look('y'); break;
    case '3': look('z'); break;
    case 'r': timeline.setLoop(!timeline.again); break;
    case 't': toggleTheme(); break;
    case 'p': savePicture(); break;
    case 'c': saveTable(); break;
    case 'l': copyLink(); break;
    case '?': openHelp(); break;
    case 'Escape': select(null); if (stage) { stage.loop = -1; stage.marking(); showPanel.refresh(stage); } break;
    default: return;
  }
  act();
  changed();
}
function faster(step) {
  const k = speeds.indexOf(timeline.speed) + step;
  if (speeds[k]) { timeline.speed = speeds[k]; byId('speed').value = speeds[k]; changed(); }
}
document.addEventListener('keydown', key);

// --- share ---------------------------------------------------------------------------------------------------------------

// The scene on its background, as it is on the screen.
function picture() {
  const canvas = byId('gl'), out = make('canvas', { width: canvas.width, height: canvas.height }), g = out.getContext('2d');
  const style = getComputedStyle(document.documentElement), shade = g.createRadialGradient(out.width / 2, 0.35 * out.height, 0, out.width / 2, 0.35 * out.height, 0.75 * Math.max(out.width, out.height));
  shade.addColorStop(0, style.getPropertyValue('--sky0')); shade.addColorStop(1, style.getPropertyValue('--sky1'));
  g.fillStyle = shade; g.fillRect(0, 0, out.width, out.height);
  stage.draw(); // in the same task as the copy, while the drawing buffer is valid
  g.drawImage(canvas, 0, 0);
  return out;
}
function savePicture() {
  if (!stage) { toast('There is no scene to save'); return; }
  picture().toBlob(blob => { download(`${fileName(data.title || '')}_${timeline.t.toPrecision(4)}s.png`, blob); toast('The picture is saved'); }, 'image/png');
}
function saveTable() {
  download(`${fileName(data.title || '')}.csv`, new Blob([board.csv()], { type: 'text/csv' }));
  toast('The numbers of the plots are saved');
}
function copyLink() {
  const link = `${location.href.split('#')[0]}#${state()}`;
  history.replaceState(null, '', `#${state()}`);
  const done = () => toast('The link to this view is copied');
  if (navigator.clipboard) navigator.clipboard.writeText(link).then(done, () => toast('The address now holds this view'));
  else toast('The address now holds this view');
}
function toggleTheme() { theme.set(theme.name === 'dark' ? 'light' : 'dark'); changed(); }
function openHelp() {
  const rows = [['Space', 'play, pause'], ['← →', 'one step; Page keys: ten'], ['Home, End', 'to the start, to the end'], ['[ ]', 'to the event before, after'], [', .', 'slower, faster'],
    ['R', 'begin again at the end'], ['Shift + arrows', 'turn the camera'], ['+ −', 'closer, farther; in a plot: zoom, 0 undoes it'], ['F, H', 'frame the motion, first view'], ['1 2 3', 'look along x, y, z'],
    ['T', 'light or dark'], ['P, C, L', 'picture, numbers, link'], ['Esc', 'select nothing']];
  const box = byId('help');
  box.replaceChildren(make('h2', { textContent: 'Keys' }), make('table', {}, make('tbody', {}, ...rows.map(([k, text]) => make('tr', {}, make('th', {}, make('kbd', { textContent: k })), make('td', { textContent: text }))))),
    make('p', { textContent: 'Drag turns, right drag or two fingers move, the wheel zooms. Arrows of forces, trails, loops: tabs Show and Parts.' }),
    make('p', { className: 'soft', textContent: `Written by linkwork ${data.linkwork}.` }),
    make('details', {}, make('summary', { textContent: 'Licences' }), make('pre', { textContent: licenceText() })),
    make('div', { className: 'row' }, make('button', { type: 'button', textContent: 'Close', onclick: () => box.close() })));
  box.showModal();
}
// The script of this page begins with the licence of three.js, as a comment.
function licenceText() {
  const script = [...document.scripts].find(s => !s.type), text = script ? script.textContent : '';
  return text.slice(text.indexOf('/*') + 2, text.indexOf('*/')).trim();
}

setIcon('share-png', 'picture'); setIcon('share-csv', 'table'); setIcon('share-link', 'link'); setIcon('help-open', 'help');
byId('share-png').addEventListener('click', savePicture);
byId('share-csv').addEventListener('click', saveTable);
byId('share-link').addEventListener('click', copyLink);
byId('theme').addEventListener('click', toggleTheme);
byId('help-open').addEventListener('click', openHelp);
byId('verdict').addEventListener('click', () => tabs.open('run'));
const themeIcon = () => setIcon('theme', theme.name === 'dark' ? 'sun' : 'moon');
theme.listeners.push(() => { themeIcon(); board.recolour(); if (stage) { stage.build(); stage.place(timeline.t); } });
themeIcon();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', e => { if (!hash.get('theme')) theme.set(e.matches ? 'dark' : 'light'); });

// The axes of the world in the corner.
function drawTriad() {
  const canvas = byId('triad-canvas'), ratio = window.devicePixelRatio || 1, g = canvas.getContext('2d'), size = 64;
  if (canvas.width !== Math.round(size * ratio)) { canvas.width = canvas.height = Math.round(size * ratio); canvas.style.width = canvas.style.height = `${size}px`; }
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, size, size);
  const back = stage.camera.quaternion.clone().inverse(), axes = [['x', '#d6453d', V(1, 0, 0)], ['y', '#2f9e44', V(0, 1, 0)], ['z', '#3b6fd6', V(0, 0, 1)]];
  const drawn = axes.map(([name, colour, v]) => [name, colour, stage.stageDirection(v).applyQuaternion(back)]).sort((a, b) => a[2].z - b[2].z);
  g.font = '600 11px system-ui, sans-serif'; g.textAlign = 'center'; g.textBaseline = 'middle'; g.lineWidth = 2;
  for (const [name, colour, v] of drawn) {
    if (v.z > 0.985 || v.z < -0.985) { // it points at the viewer, or away
      g.strokeStyle = g.fillStyle = colour;
      g.beginPath(); g.arc(32, 32, 4, 0, 7); g.stroke();
      if (v.z > 0) { g.beginPath(); g.arc(32, 32, 1.5, 0, 7); g.fill(); }
      g.fillStyle = theme.colours.ink; g.fillText(name, 22, 42);
      continue;
    }
    g.strokeStyle = colour;
    g.beginPath(); g.moveTo(32, 32); g.lineTo(32 + 20 * v.x, 32 - 20 * v.y); g.stroke();
    g.fillStyle = theme.colours.ink; g.fillText(name, 32 + 27 * v.x, 32 - 27 * v.y);
  }
}

// --- every picture of the screen -----------------------------------------------------------------------------------------

let framed = false, lastPointer = null, lastFrame = 0;
function onFrame(now) {
  if (stage && timeline.playing && now - lastFrame < 2000) stage.pace(now - lastFrame);
  lastFrame = now;
  timeline.tick(now);
  if (stage) {
    const width = stage.w, resized = stage.resize();
    if (resized && width && stage.w && (!framed || !hash.get('camera')) && !app.touched) { stage.frame(stage.homeDirection()); framed = true; }
    stage.controls.update();
    if (app.pointer && (app.pointer !== lastPointer || timeline.playing) && now - (app.picked || 0) > 60) {
      lastPointer = app.pointer; app.picked = now;
      const box = byId('gl').getBoundingClientRect(), x = app.pointer.clientX - box.left, y = app.pointer.clientY - box.top;
      tip(stage.pick(x, y), x, y);
    }
    if (stage.dirty) {
      stage.draw();
      drawTriad();
      const distance = stage.camera.position.distanceTo(stage.controls.target);
      stage.arrows.legend(byId('legend'), stage.h / (2 * distance * Math.tan(stage.camera.fov * degrees / 2)) / stage.size);
    }
  }
  requestAnimationFrame(onFrame);
}
restore();
if (stage) {
  stage.resize();
  stage.frame(stage.homeDirection());
  framed = true;
  const camera = (hash.get('camera') || '').split('_').map(Number);
  if (camera.length === 6 && camera.every(Number.isFinite)) {
    stage.camera.position.fromArray(camera); stage.controls.target.fromArray(camera, 3);
    stage.controls.update(); app.touched = true;
  }
  stage.controls.addEventListener('start', () => { app.touched = true; });
}
if (hash.get('play') === '1' || (!hash.has('t') && !matchMedia('(prefers-reduced-motion: reduce)').matches)) timeline.play();
requestAnimationFrame(onFrame);

// For other scripts and for tests: the state of the page, and where points are on the screen.
window.linkwork = {
  data, motions, app, timeline, board, theme,
  go: t => { timeline.pause(); timeline.go(t); if (stage) stage.draw(); },
  body: (name, point) => {
    const b = motions[0].model.bodies.findIndex(o => o.name === name), pose = motions[0].posesAt(timeline.t, new Float64Array(motions[0].width));
    return placePoint(pose, 7 * (b - 1), point || motions[0].model.bodies[b].com);
  },
  project: p => stage.project(p), picture
};
