// panels.js - the side: tabs, the run with its verdict and ledger, what the scene shows, the list of parts.

const jointWords = { revolute: 'hinge', prismatic: 'slide', cylindrical: 'slides and turns', universal: 'universal joint', spherical: 'ball joint',
  planar: 'moves in a plane', translation: 'slides', free: 'free', weld: 'weld', screw: 'screw' };

class Tabs {
  constructor(entries) {
    this.entries = entries.map(([id, text]) => {
      const button = make('button', { type: 'button', textContent: text, id: `tab-${id}`, role: 'tab', 'aria-controls': `panel-${id}`,
        onclick: () => this.open(id), onkeydown: e => this.key(e, id) });
      byId('tabs').append(button);
      byId(`panel-${id}`).setAttribute('aria-labelledby', `tab-${id}`);
      return { id, button };
    });
    this.open(entries[0][0]);
  }

  open(id) {
    this.now = id;
    for (const e of this.entries) {
      e.button.setAttribute('aria-selected', e.id === id);
      e.button.tabIndex = e.id === id ? 0 : -1;
      byId(`panel-${e.id}`).hidden = e.id !== id;
    }
    if (this.onChange) this.onChange(id);
  }

  key(event, id) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const k = this.entries.findIndex(e => e.id === id), next = this.entries[(k + step + this.entries.length) % this.entries.length];
    this.open(next.id);
    next.button.focus();
    event.preventDefault(); event.stopPropagation();
  }
}

// --- the run -------------------------------------------------------------------------------------------------------

const ledgerRows = [['kinetic', 'Kinetic'], ['potential', 'Potential'], ['drives', 'Work of drives'], ['forces', 'Work of forces'],
  ['dissipation', 'Dissipated'], ['unaccounted', 'Unaccounted']];

class RunPanel {
  constructor(holder, motions, onTime) {
    this.motions = motions;
    this.ledgers = [];
    motions.forEach((motion, m) => {
      if (motions.length > 1) holder.append(make('h2', {}, m ? 'Ghost: ' : 'Solid: ', named(motion.label)));
      this.verdict(holder, motion);
      this.ledger(holder, motion);
      this.facts(holder, motion);
      this.events(holder, motion, onTime);
    });
  }

  verdict(holder, motion) {
    const s = motion.about.summary, card = make('div', { className: 'card' });
    if (motion.about.failure) card.append(make('b', { textContent: 'The run ended early' }), make('p', { textContent: motion.about.failure }));
    else if (!s) card.append(make('b', { textContent: motion.times.length > 1 ? 'No verdict is recorded' : 'One position, no run' }));
    else card.append(make('b', { textContent: s.ok ? 'Verdict: ok' : 'Verdict: doubtful' }),
      make('p', { className: 'soft', textContent: s.ok ? 'Balance of every body, closure of loops and energy were checked at the samples.' : '' }));
    if (s && s.reasons.length) card.append(make('ul', { className: 'notes' }, ...s.reasons.map(r => make('li', { textContent: r }))));
    if (motion.about.notes.length) card.append(make('ul', { className: 'notes soft' }, ...motion.about.notes.map(n => make('li', { textContent: n }))));
    holder.append(card);
  }

  ledger(holder, motion) {
    if (!motion.columns.has('kinetic')) return;
    const scale = Math.max(...['kinetic', 'potential', 'drives', 'forces', 'dissipation'].map(name => {
      const y = motion.dense(name);
      if (!y) return 0;
      const base = name === 'potential' ? y[0] : 0;
      return y.reduce((m, v) => Math.max(m, Math.abs(v - base)), 0);
    }), 1e-300);
    const rows = ledgerRows.filter(([name]) => motion.columns.has(name)).map(([name, text]) => {
      const value = make('td', { className: 'number' }), bar = make('i'), meter = make('td', {}, make('div', { className: 'meter' }, bar));
      return { name, value, bar, row: make('tr', {}, make('th', { textContent: text }), meter, value) };
    });
    holder.append(make('h2', { textContent: 'Energy, J' }), make('table', {}, make('tbody', {}, ...rows.map(r => r.row))));
    this.ledgers.push({ motion, rows, scale });
  }

  facts(holder, motion) {
    const a = motion.about, s = a.summary, model = motion.model, rows = [];
    const fact = (name, value) => { if (value !== undefined && value !== null && value !== '') rows.push(make('tr', {}, make('th', { textContent: name }), make('td', { className: 'number', textContent: value }))); };
    fact('Method', a.method); fact('Integrator', a.integrator);
    fact('Samples', motion.times.length);
    if (s) {
      fact('Steps', s.steps); fact('Computing', s.wall_s === null ? '' : `${show(s.wall_s, 3)} s`);
      fact('Largest balance residual', show(s.balance_max, 3));
      fact('Loops open by at most', show(s.position_max, 3));
      fact('Largest energy drift', `${show(s.energy_max_drift, 3)} J`);
    }
    fact('Bodies, joints', `${model.bodies.length - 1}, ${model.joints.length}`);
    fact('Loops', model.loops.length);
    fact('Freedom', model.freedom);
    fact('Redundant rows', model.redundant.length);
    holder.append(make('h2', { textContent: 'Run' }), make('table', {}, make('tbody', {}, ...rows)));
    if (model.redundant.length) holder.append(make('details', {}, make('summary', { textContent: 'Which rows are redundant' }),
      make('ul', { className: 'notes' }, ...model.redundant.map(r => make('li', { textContent: r })))));
    holder.append(make('p', { className: 'soft', textContent: `Poses are resampled to ${show(100 * a.motion_tolerance, 2)} % of the size of the mechanism, curves to ${show(100 * a.column_tolerance, 2)} % of their range.` }));
  }

  events(holder, motion, onTime) {
    const events = motion.about.events;
    if (!events.length) return;
    holder.append(make('h2', { textContent: `Events (${events.length})` }), make('ul', { className: 'list' }, ...events.slice(0, 300).map(e =>
      make('li', {}, make('button', { type: 'button', title: eventText(e), onclick: () => onTime(e.t) }, named(eventText(e)), make('span', { className: 'soft', textContent: `${show(e.t, 5)} s` }))))));
  }

  setTime(t) {
    for (const { motion, rows, scale } of this.ledgers)
      for (const r of rows) {
        const v = motion.valueAt(r.name, t), base = r.name === 'potential' ? motion.dense('potential')[0] : 0;
        r.value.textContent = show(v, 6);
        const part = Math.max(-1, Math.min(1, (v - base) / scale));
        r.bar.style.left = `${50 + 50 * Math.min(0, part)}%`;
        r.bar.style.width = `${50 * Math.abs(part)}%`;
      }
  }
}

// --- what is shown ---------------------------------------------------------------------------------------------------

class ShowPanel {
  constructor(holder, stage, onChange) {
    this.checks = new Map();
    const kinds = stage ? stage.arrows.kinds() : new Set();
    const check = (key, text, apply) => {
      const tick = make('input', { type: 'checkbox', checked: stage.show[key], onchange: () => { stage.show[key] = tick.checked; apply(); onChange(); } });
      this.checks.set(key, tick);
      return make('label', { className: 'check' }, tick, text);
    };
    if (!stage) { holder.append(make('p', { textContent: 'There is no scene without WebGL.' })); return; }
    const visible = () => stage.visibility(), arrows = () => stage.place(stage.time);
    holder.append(make('h2', { textContent: 'Scene' }), check('joints', 'Joints', visible), check('forces', 'Springs, dampers, bushings, motors', visible),
      check('frames', 'Frames of bodies', visible), check('grid', `Grid (a square is ${show(stage.cell, 3)} m)`, visible), check('shadow', 'Shadow', visible));
    if (stage.model.frames.length) holder.append(check('markers', 'Frames with names', visible));
    if (stage.motions[1]) holder.append(check('ghost', 'Ghost of the second motion', visible));
    const names = { reactions: 'Reactions of joints: forces', torques: 'Torques of joints and bushings', springForces: 'Springs and bushings', applied: 'Applied forces' };
    holder.append(make('h2', { textContent: 'Forces' }));
    for (const [key, text] of Object.entries(names)) if (kinds.has(key)) holder.append(check(key, text, arrows));
    if (!kinds.size) holder.append(make('p', { className: 'soft', textContent: 'No forces are recorded.' }));
    else {
      const scale = make('input', { type: 'range', className: 'wide', min: -1.5, max: 1.5, step: 0.05, value: Math.log10(stage.show.scale), 'aria-label': 'Length of arrows',
        oninput: () => { stage.show.scale = Math.pow(10, scale.value); arrows(); onChange(); } });
      this.scale = scale;
      holder.append(make('label', {}, 'Length of arrows', scale), check('log', 'Logarithmic (three decades)', arrows),
        make('p', { className: 'soft', textContent: 'Dashed arrows are not unique: redundant constraints may share that load in any way. What is unique is found at the start.' }));
    }
    if (stage.model.loops.length) {
      this.loop = make('select', { 'aria-label': 'Loop', onchange: () => { stage.loop = Number(this.loop.value); stage.marking(); onChange(); } },
        make('option', { value: -1, textContent: 'no loop' }),
        ...stage.model.loops.slice(0, 500).map((loop, k) => make('option', { value: k, textContent: `closed by ${stage.model.joints[loop[0]].name} (${loop.length} joints)` })));
      holder.append(make('h2', { textContent: 'Highlight a loop' }), this.loop,
        make('p', { className: 'soft', textContent: 'Joints that close a loop are blue, those with redundant rows have an orange ring.' }));
    }
    this.follow = make('select', { 'aria-label': 'Body that the camera follows', onchange: () => { stage.setFollow(Number(this.follow.value)); onChange(); } },
      make('option', { value: -1, textContent: stage.travels ? 'the whole mechanism' : 'nothing' }),
      ...stage.model.bodies.slice(1, 1000).map((b, k) => make('option', { value: k + 1, textContent: b.name })));
    holder.append(make('h2', { textContent: 'Camera follows' }), this.follow);
  }

  refresh(stage) {
    for (const [key, tick] of this.checks) tick.checked = stage.show[key];
    if (this.loop) this.loop.value = stage.loop;
    if (this.follow) this.follow.value = stage.follow;
    if (this.scale) this.scale.value = Math.log10(stage.show.scale);
  }
}

// --- parts -----------------------------------------------------------------------------------------------------------

// What is known of an object: lines of name and value.
function describe(model, pick) {
  const name = b => model.bodies[b].name;
  if (pick.kind === 'body') {
    const b = model.bodies[pick.index];
    return { title: b.name, word: pick.index ? 'body' : 'ground', rows: pick.index ? [['Mass', `${show(b.mass)} kg`], ['Shape', b.shapes ? b.shapes.map(s => s.kind).join(', ') : 'none given']] : [] };
  }
  if (pick.kind === 'joint') {
    const j = model.joints[pick.index];
    const rows = [['Between', `${name(j.bodies[0])} – ${name(j.bodies[1])}`]];
    if (j.cut) rows.push(['Closes', 'a loop']);
    if (j.redundant) rows.push(['Redundant rows', j.redundant]);
    if (j.unique && j.unique.some(u => !u)) rows.push(['Reaction', 'not unique']);
    if (j.prescribed) rows.push(['Motion', 'prescribed']);
    return { title: j.name, word: j.type === jointWords[j.type] ? j.type : `${j.type}: ${jointWords[j.type]}`, rows };
  }
  const e = (pick.kind === 'force' ? model.forces : model.constraints)[pick.index];
  return { title: e.name, word: `${e.type}${pick.kind === 'constraint' ? ' constraint' : ''}`,
    rows: e.bodies ? [['Between', `${name(e.bodies[0])} – ${name(e.bodies[1])}`]] : e.joint >= 0 ? [['Joint', model.joints[e.joint].name]] : [] };
}

class PartsPanel {
  constructor(holder, model, stage, app) {
    this.model = model; this.stage = stage; this.app = app;
    this.card = make('div', { className: 'card' });
    this.buttons = new Map();
    const search = make('input', { type: 'search', placeholder: 'Search names', 'aria-label': 'Search names', oninput: () => this.filter(search.value) });
    holder.append(this.card, make('div', { className: 'row' }, search));
    const groups = [['Bodies', 'body', model.bodies, b => `${show(b.mass, 3)} kg`], ['Joints', 'joint', model.joints, j => j.type],
      ['Force elements', 'force', model.forces, f => f.type], ['Constraints', 'constraint', model.constraints, c => c.type]];
    for (const [title, kind, items, note] of groups) {
      if (!items.length) continue;
      const list = make('ul', { className: 'list' });
      items.slice(0, 2000).forEach((item, k) => {
        if (kind === 'body' && k === 0) return;
        const button = make('button', { type: 'button', 'aria-pressed': 'false', onclick: () => app.select({ kind, index: k }) }, named(item.name), make('span', { className: 'soft', textContent: note(item) }));
        this.buttons.set(`${kind} ${k}`, button);
        list.append(make('li', {}, button));
      });
      holder.append(make('details', { open: items.length < 40 }, make('summary', { textContent: `${title} (${kind === 'body' ? items.length - 1 : items.length})` }), list));
    }
    this.select(null);
  }

  filter(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const button of this.buttons.values()) button.parentElement.hidden = !words.every(w => button.textContent.toLowerCase().includes(w));
  }

  select(pick) {
    for (const button of this.buttons.values()) button.setAttribute('aria-pressed', 'false');
    if (!pick) { this.card.replaceChildren(make('span', { className: 'soft', textContent: 'Click a part in the scene or below.' })); return; }
    const about = describe(this.model, pick), button = this.buttons.get(`${pick.kind} ${pick.index}`);
    if (button) button.setAttribute('aria-pressed', 'true');
    const tools = make('div', { className: 'row' }), stage = this.stage, app = this.app;
    if (pick.kind === 'body' && pick.index > 0 && stage) {
      const toggle = (text, on, act) => { const b = make('button', { type: 'button', textContent: text, 'aria-pressed': String(on), onclick: () => { const now = b.getAttribute('aria-pressed') !== 'true'; b.setAttribute('aria-pressed', String(now)); act(now); app.changed(); } }); tools.append(b); };
      const trail = (text, key) => toggle(text, stage.trails.has(key), now => stage.toggleTrail(key, now));
      trail('Trail of the centre', stage.trailKey(pick.index));
      if (pick.point) trail('Trail of this point', stage.trailKey(pick.index, pick.point));
      for (const key of stage.trails) if (key.startsWith(`${pick.index}:`) && key !== (pick.point && stage.trailKey(pick.index, pick.point))) trail(`Trail of ${key.split(':').slice(1).map(x => show(Number(x), 3)).join(', ')}`, key);
      toggle('Follow', stage.follow === pick.index, now => stage.setFollow(now ? pick.index : -1));
    }
    const prefix = { body: `com(${about.title}).`, joint: `${about.title}.`, force: `force(${about.title})` }[pick.kind];
    const columns = [...app.motions[0].columns.keys()].filter(n => (prefix && n.startsWith(prefix) && !n.endsWith('.power') || pick.kind === 'joint' && n.startsWith(`reaction(${about.title}).`)) && !n.endsWith('(difference)'));
    const plot = (text, names) => { if (names.length) tools.append(make('button', { type: 'button', textContent: text, onclick: () => app.plot(names) })); };
    if (pick.kind === 'joint') {
      plot('Plot coordinates', columns.filter(n => /\.(q\w?|d|angle|a1|a2|x|y|z|q[wxyz])$/.test(n) && !n.startsWith('reaction(')));
      plot('Plot reaction', columns.filter(n => /^reaction\(.*\)\.f[xyz]$/.test(n)));
    } else plot('Plot', columns.slice(0, 6));
    this.card.replaceChildren(make('b', {}, named(about.title)), ' ', make('span', { className: 'soft', textContent: about.word }),
      make('table', {}, make('tbody', {}, ...about.rows.map(([k, v]) => make('tr', {}, make('th', { textContent: k }), make('td', {}, named(String(v))))))), tools);
  }
}
