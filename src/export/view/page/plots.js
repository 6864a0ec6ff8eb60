// plots.js - curves over time on a canvas: shared zoom, a cursor at the present time, values under the pointer.
// Two layers: curves, drawn when they change, and the cursor, drawn with every picture.

const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

// Round numbers between low and high.
function ticks(low, high, most) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const raw = span / Math.max(1, most), p = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map(f => f * p).find(s => s >= raw), out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) out.push(Math.abs(k * step) < 1e-9 * step ? 0 : k * step);
  return out;
}

class Plot {
  constructor(board, names) {
    this.board = board;
    this.names = names;
    this.base = make('canvas');
    this.over = make('canvas', { tabindex: 0, role: 'img' });
    this.chips = make('div', { className: 'chips' });
    this.add = make('button', { type: 'button', textContent: 'Curves…', title: 'Choose the curves of this panel', onclick: () => board.choose(this) });
    this.drop = make('button', { type: 'button', textContent: '×', title: 'Remove this panel', 'aria-label': 'Remove this panel', onclick: () => board.remove(this) });
    this.element = make('div', { className: 'plot' }, make('div', { className: 'plot-head' }, this.chips, this.add, this.drop),
      make('div', { className: 'canvases' }, this.base, this.over));
    this.listen();
    this.legend();
  }

  // Curves: name, motion, colour and dash of each. Where two motions are shown each column has a curve of both.
  curves() {
    const colours = theme.colours.curves, out = [];
    this.names.forEach((name, k) => this.board.motions.forEach((motion, m) => {
      if (!motion.columns.has(name)) return;
      out.push({ name, motion, unit: motion.columns.get(name).unit, colour: colours[k % colours.length],
        dash: m ? [2, 3] : dashes[Math.floor(k / colours.length) % dashes.length], second: m > 0 });
    }));
    return out;
  }

  legend() {
    this.outputs = [];
    this.chips.replaceChildren(...this.curves().map(curve => {
      const space = 'http://www.w3.org/2000/svg', svg = document.createElementNS(space, 'svg'), line = document.createElementNS(space, 'path');
      svg.setAttribute('viewBox', '0 0 20 8');
      svg.setAttribute('aria-hidden', 'true');
      line.setAttribute('d', 'M0 4H20'); line.setAttribute('stroke', curve.colour); line.setAttribute('stroke-width', '2.5');
      line.setAttribute('stroke-dasharray', curve.dash.join(' '));
      svg.append(line);
      const value = make('output');
      this.outputs.push([curve, value]);
      return make('span', { className: 'chip' }, svg, named(curve.second ? `${curve.name} (${curve.motion.label})` : curve.name), value, make('span', { className: 'soft', textContent: curve.unit }));
    }));
    this.over.setAttribute('aria-label', `Plot of ${this.names.join(', ')} over time; plus and minus zoom, 0 shows all`);
  }

  values(t) {
    for (const [curve, output] of this.outputs) output.textContent = show(curve.motion.valueAt(curve.name, t));
  }

  size() {
    const box = this.over.parentElement.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    const w = Math.max(1, Math.round(box.width * ratio)), h = Math.max(1, Math.round(box.height * ratio));
    for (const c of [this.base, this.over]) if (c.width !== w || c.height !== h) { c.width = w; c.height = h; }
    return { w: box.width, h: box.height, ratio };
  }

  // The rows of a motion that are visible, with one more at both sides.
  visible(motion) {
    const { x0, x1 } = this.board, times = motion.times;
    return [Math.max(0, interval(times, x0)), Math.min(times.length - 1, interval(times, x1) + 1)];
  }

  draw() {
    const { w, h, ratio } = this.size(), g = this.base.getContext('2d'), c = theme.colours, { x0, x1 } = this.board;
    if (w < 20) return;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    const curves = this.curves();
    let low = Infinity, high = -Infinity;
    for (const curve of curves) {
      const y = curve.motion.dense(curve.name), [a, b] = this.visible(curve.motion);
      for (let k = a; k <= b; k++) if (y[k] < Infinity && y[k] > -Infinity) { low = Math.min(low, y[k]); high = Math.max(high, y[k]); }
    }
    if (!(high >= low)) { low = 0; high = 1; }
    let margin = 0.06 * (high - low);
    if (margin < 1e-12 * Math.max(Math.abs(low), Math.abs(high), 1e-290)) margin = 0.05 * Math.abs(low) || 1;
    low -= margin; high += margin;
    g.font = `${h > 170 ? 13 : 11}px system-ui, sans-serif`;
    const marks = ticks(low, high, h / 28), labels = marks.map(v => show(v, 4));
    const left = Math.max(30, ...labels.map(l => g.measureText(l).width)) + 8, right = w - 8, top = this.board.events.length ? 18 : 6, bottom = h - (h > 170 ? 20 : 18);
    this.area = { left, right, top, bottom, low, high };
    const X = t => left + (t - x0) / (x1 - x0) * (right - left), Y = v => bottom - (v - low) / (high - low) * (bottom - top);
    g.strokeStyle = c.line; g.fillStyle = c.soft; g.lineWidth = 1;
    g.textAlign = 'right'; g.textBaseline = 'middle';
    marks.forEach((v, k) => {
      g.beginPath(); g.moveTo(left, Math.round(Y(v)) + 0.5); g.lineTo(right, Math.round(Y(v)) + 0.5); g.stroke();
      g.fillText(labels[k], left - 5, Y(v));
    });
    g.textAlign = 'center'; g.textBaseline = 'top';
    const instants = ticks(x0, x1, (right - left) / 70);
    for (const t of instants) {
      g.beginPath(); g.moveTo(Math.round(X(t)) + 0.5, top); g.lineTo(Math.round(X(t)) + 0.5, bottom); g.stroke();
      const text = show(t, 6) + (t === instants[instants.length - 1] ? ' s' : ''), half = g.measureText(text).width / 2;
      g.fillText(text, Math.min(right - half, Math.max(left + half, X(t))), bottom + 4);
    }
    this.events(g, X, top, bottom);
    g.save();
    g.beginPath(); g.rect(left, top, right - left, bottom - top); g.clip();
    g.lineWidth = 1.8; g.lineJoin = 'round';
    for (const curve of curves) this.stroke(g, curve, X, Y);
    g.restore();
    this.cursor();
  }

  // Events of the model as vertical lines, with their names above where there is room for them.
  events(g, X, top, bottom) {
    const { x0, x1, events } = this.board, seen = events.filter(e => e.t >= x0 && e.t <= x1).slice(0, 400);
    let free = -Infinity;
    g.strokeStyle = theme.colours.event; g.fillStyle = theme.colours.event; g.lineWidth = 1; g.setLineDash([4, 3]);
    g.textAlign = 'left'; g.textBaseline = 'bottom';
    const { left, right } = this.area;
    for (const e of seen) {
      const x = Math.round(X(e.t)) + 0.5, wide = g.measureText(e.name).width, from = Math.max(left, Math.min(x - wide / 2, right - wide));
      g.beginPath(); g.moveTo(x, top - 2); g.lineTo(x, bottom); g.stroke();
      if (from < free || wide > 0.5 * (right - left)) continue;
      g.fillText(e.name, from, top - 3);
      free = from + wide + 6;
    }
    g.setLineDash([]);
  }

  // A curve; where there are many more rows than pixels, the lowest and the highest of each pixel.
  stroke(g, curve, X, Y) {
    const y = curve.motion.dense(curve.name), t = curve.motion.times, [a, b] = this.visible(curve.motion);
    g.strokeStyle = curve.colour; g.fillStyle = curve.colour; g.setLineDash(curve.dash);
    if (b === a) { g.beginPath(); g.arc(X(t[a]), Y(y[a]), 3.5, 0, 7); g.fill(); return; }
    g.beginPath();
    let pen = false;
    const dense = b - a > 4 * (this.area.right - this.area.left);
    if (!dense) {
      for (let k = a; k <= b; k++) {
        if (!Number.isFinite(y[k])) { pen = false; continue; }
        if (pen) g.lineTo(X(t[k]), Y(y[k])); else g.moveTo(X(t[k]), Y(y[k]));
        pen = true;
      }
    } else for (let k = a; k <= b;) {
      const px = Math.floor(X(t[k]));
      let low = Infinity, high = -Infinity;
      for (; k <= b && Math.floor(X(t[k])) === px; k++) if (Number.isFinite(y[k])) { low = Math.min(low, y[k]); high = Math.max(high, y[k]); }
      if (low > high) { pen = false; continue; }
      if (pen) g.lineTo(px, Y(low)); else g.moveTo(px, Y(low));
      g.lineTo(px, Y(high)); pen = true;
    }
    g.stroke();
    g.setLineDash([]);
  }

  cursor() {
    const { w, h, ratio } = this.size(), g = this.over.getContext('2d'), a = this.area, { x0, x1, time, hover } = this.board;
    if (!a) return;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    const X = t => a.left + (t - x0) / (x1 - x0) * (a.right - a.left), Y = v => a.bottom - (v - a.low) / (a.high - a.low) * (a.bottom - a.top);
    const line = (t, style, width) => {
      if (t < x0 || t > x1) return;
      g.strokeStyle = style; g.lineWidth = width;
      g.beginPath(); g.moveTo(X(t), a.top); g.lineTo(X(t), a.bottom); g.stroke();
    };
    line(time, theme.colours.cursor, 1.4);
    if (hover !== null) { g.setLineDash([3, 3]); line(hover, theme.colours.soft, 1); g.setLineDash([]); }
    const at = hover === null ? time : hover;
    if (at >= x0 && at <= x1)
      for (const [curve] of this.outputs) {
        const v = curve.motion.valueAt(curve.name, at);
        if (!Number.isFinite(v)) continue;
        g.fillStyle = curve.colour;
        g.beginPath(); g.arc(X(at), Y(v), 3.2, 0, 7); g.fill();
      }
    if (this.drag) {
      const [p, q] = this.drag.map(t => X(t));
      g.globalAlpha = 0.18; g.fillStyle = theme.colours.curves[0];
      g.fillRect(Math.min(p, q), a.top, Math.abs(q - p), a.bottom - a.top);
      g.globalAlpha = 1;
    }
    this.values(at);
  }

  timeAt(event) {
    const a = this.area, { x0, x1 } = this.board, x = event.clientX - this.over.getBoundingClientRect().left;
    return Math.min(x1, Math.max(x0, x0 + (x - a.left) / (a.right - a.left) * (x1 - x0)));
  }

  listen() {
    const board = this.board, canvas = this.over;
    canvas.addEventListener('pointermove', e => {
      if (!this.area) return;
      board.hover = this.timeAt(e);
      if (this.start !== undefined && e.pointerType === 'mouse') this.drag = Math.abs(e.clientX - this.startX) > 4 ? [this.start, board.hover] : null;
      if (this.start !== undefined && e.pointerType !== 'mouse') board.onTime(board.hover);
      board.cursors();
    });
    canvas.addEventListener('pointerleave', () => { board.hover = null; board.cursors(); });
    canvas.addEventListener('pointerdown', e => {
      if (!this.area) return;
      this.start = this.timeAt(e); this.startX = e.clientX;
      try { canvas.setPointerCapture(e.pointerId); } catch (_) { /* a synthetic pointer cannot be captured */ }
    });
    canvas.addEventListener('pointerup', e => {
      if (this.drag && Math.abs(this.drag[1] - this.drag[0]) > 1e-6 * (board.x1 - board.x0)) board.zoom(Math.min(...this.drag), Math.max(...this.drag));
      else if (this.start !== undefined) board.onTime(this.timeAt(e));
      this.drag = null; this.start = undefined;
      board.cursors();
    });
    canvas.addEventListener('dblclick', () => board.zoom());
    canvas.addEventListener('wheel', e => {
      if (!this.area || !(e.ctrlKey || e.shiftKey || document.activeElement === canvas)) return;
      e.preventDefault();
      const t = this.timeAt(e), f = Math.exp(0.0015 * (e.deltaY || e.deltaX));
      board.zoom(t - (t - board.x0) * f, t + (board.x1 - t) * f);
    }, { passive: false });
    canvas.addEventListener('keydown', e => {
      const t = board.time, f = { '+': 0.7, '=': 0.7, '-': 1 / 0.7 }[e.key];
      if (f) board.zoom(t - (t - board.x0) * f, t + (board.x1 - t) * f);
      else if (e.key === '0') board.zoom();
      else return;
      e.preventDefault(); e.stopPropagation();
    });
  }
}

// All panels, with their common zoom.
class Board {
  constructor(holder, motions, onTime, onChange) {
    this.motions = motions; this.onTime = onTime; this.onChange = onChange;
    this.plots = []; this.hover = null; this.time = motions[0].start;
    this.start = Math.min(...motions.map(m => m.start)); this.end = Math.max(...motions.map(m => m.end));
    if (!(this.end > this.start)) { this.start -= 0.5; this.end += 0.5; }
    this.x0 = this.start; this.x1 = this.end;
    this.events = [].concat(...motions.map(m => m.about.events)).filter(e => e.kind === 'event').sort((a, b) => a.t - b.t);
    this.list = make('div');
    this.all = make('button', { type: 'button', textContent: 'All of the time', title: 'Undo the zoom (0)', onclick: () => this.zoom() });
    holder.append(this.list, make('div', { className: 'row' },
      make('button', { type: 'button', textContent: 'Add a panel…', onclick: () => this.choose(null) }), this.all),
    make('p', { className: 'soft', textContent: 'Click a plot to go to that time; drag across it to zoom, double-click to undo.' }));
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  set(panels) {
    this.plots = panels.map(names => new Plot(this, names));
    this.list.replaceChildren(...this.plots.map(p => p.element));
    this.draw();
  }

  remove(plot) { this.plots = this.plots.filter(p => p !== plot); plot.element.remove(); this.onChange(); }

  zoom(a = this.start, b = this.end) {
    const least = 1e-6 * (this.end - this.start);
    a = Math.max(this.start, a); b = Math.min(this.end, b);
    if (b - a < least) return;
    this.x0 = a; this.x1 = b;
    this.all.disabled = a <= this.start && b >= this.end;
    this.draw();
    this.onChange();
  }

  draw() { this.all.disabled = this.x0 <= this.start && this.x1 >= this.end; for (const p of this.plots) p.draw(); }
  recolour() { for (const p of this.plots) { p.legend(); p.draw(); } }
  cursors() { for (const p of this.plots) p.cursor(); }
  setTime(t) { this.time = t; this.cursors(); }

  // A dialog with all columns, which can be searched.
  choose(plot) {
    const box = byId('picker'), chosen = new Set(plot ? plot.names : []);
    const names = [...new Set([].concat(...this.motions.map(m => [...m.columns.keys()])))];
    const unit = name => (this.motions.find(m => m.columns.has(name)) || this.motions[0]).columns.get(name).unit;
    const search = make('input', { type: 'search', placeholder: `Search ${names.length} quantities`, 'aria-label': 'Search quantities' });
    const list = make('ul', { className: 'list' });
    const fill = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = names.filter(n => words.every(w => n.toLowerCase().includes(w))).slice(0, 300);
      list.replaceChildren(...found.map(name => {
        const tick = make('input', { type: 'checkbox', checked: chosen.has(name), onchange: e => { if (e.target.checked) chosen.add(name); else chosen.delete(name); } });
        return make('li', {}, make('label', { className: 'check' }, tick, named(name), make('span', { className: 'soft', textContent: unit(name) })));
      }));
      if (!found.length) list.append(make('li', { className: 'soft', textContent: 'nothing of this name is recorded' }));
    };
    search.addEventListener('input', fill);
    fill();
    const done = make('button', { type: 'button', textContent: 'Show', onclick: () => {
      box.close();
      if (plot) { plot.names = [...chosen]; plot.legend(); plot.draw(); if (!chosen.size) this.remove(plot); }
      else if (chosen.size) { const p = new Plot(this, [...chosen]); this.plots.push(p); this.list.append(p.element); p.draw(); p.element.scrollIntoView({ block: 'nearest' }); }
      this.onChange();
    } });
    box.replaceChildren(make('h2', { textContent: plot ? 'Curves of this panel' : 'Curves of a new panel' }), search, list,
      make('div', { className: 'row' }, done, make('button', { type: 'button', textContent: 'Cancel', onclick: () => box.close() })));
    box.showModal();
    search.focus();
  }

  // The visible curves and times as comma-separated values.
  csv() {
    const curves = [].concat(...this.plots.map(p => p.curves())), quote = s => /[",\n\r]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
    const unique = curves.filter((c, k) => curves.findIndex(o => o.name === c.name && o.motion === c.motion) === k);
    const lines = [['t [s]', ...unique.map(c => quote(`${c.name}${c.second ? ` (${c.motion.label})` : ''}${c.unit ? ` [${c.unit}]` : ''}`))].join(',')];
    for (const t of this.motions[0].times) {
      if (t < this.x0 || t > this.x1) continue;
      lines.push([t, ...unique.map(c => {
        const v = c.motion === this.motions[0] ? c.motion.dense(c.name)[interval(c.motion.times, t) + (t === c.motion.end && c.motion.times.length > 1 ? 1 : 0)] : c.motion.valueAt(c.name, t);
        return Number.isFinite(v) ? Number(v.toPrecision(7)) : '';
      })].join(','));
    }
    return lines.join('\n') + '\n';
  }
}
