// data.js - the motion that the page carries: decoded arrays, cubic interpolation of poses, columns of plots.
// The interpolation is that of src/export/view/resample.c, which has checked its error at every sample.

function decode(text, Type) {
  const binary = atob(text || ''), bytes = new Uint8Array(binary.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = binary.charCodeAt(k);
  return new Type(bytes.buffer);
}

function keysOf(part, count) {
  if (part.k) return decode(part.k, Uint16Array);
  if (part.K) return decode(part.K, Uint32Array);
  return Uint32Array.from({ length: count }, (_, k) => k);
}

// Index of the interval of the ascending array that holds t.
function interval(times, t) {
  let low = 0, high = times.length - 1;
  if (high < 1 || t <= times[0]) return 0;
  if (t >= times[high]) return high - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  return low;
}

// Adds the slope at key i, times factor, to the weights of keys base - 1 .. base + 2.
function addSlope(times, i, factor, base, w) {
  const n = times.length;
  let from = i === 0 ? 0 : i - 1;
  if (from + 2 >= n) from = n >= 3 ? n - 3 : 0;
  const at = from - base + 1, h0 = times[from + 1] - times[from];
  if (n === 2) { w[at] -= factor / h0; w[at + 1] += factor / h0; return; }
  const h1 = times[from + 2] - times[from + 1], sum = h0 + h1;
  let d0 = h1 / sum, d1 = h0 / sum;                    // slope in the middle: d0 D0 + d1 D1
  if (i === from) { d0 = 2 - d0; d1 = -d1; }
  if (i === from + 2) { d0 = -d0; d1 = 2 - d1; }
  w[at] -= factor * d0 / h0;
  w[at + 1] += factor * (d0 / h0 - d1 / h1);
  w[at + 2] += factor * d1 / h1;
}

// The keys before and after t and their weights: [base, w of base - 1 .. base + 2].
function weightsAt(times, t, w) {
  w.fill(0);
  if (times.length < 2) { w[1] = 1; return 0; }
  const i = interval(times, t), h = times[i + 1] - times[i];
  const s = Math.min(1, Math.max(0, (t - times[i]) / h)), r = 1 - s;
  w[1] += r * r * (1 + 2 * s);
  w[2] += s * s * (3 - 2 * s);
  addSlope(times, i, s * r * r * h, i, w);
  addSlope(times, i + 1, -s * s * r * h, i, w);
  return i;
}

class Motion {
  constructor(view) {
    const motion = view.motion;
    this.about = motion;
    this.model = view.model;
    for (const body of this.model.bodies) for (const shape of body.shapes || []) if ('mesh' in shape) shape.data = this.model.meshes[shape.mesh];
    this.label = view.label || '';
    this.times = decode(motion.times, Float64Array);
    this.start = this.times[0];
    this.end = this.times[this.times.length - 1];
    const keys = keysOf(motion.poses, this.times.length);
    this.keyTimes = Float64Array.from(keys, k => this.times[k]);
    this.values = decode(motion.poses.v, Float32Array);
    this.width = 7 * (this.model.bodies.length - 1);
    this.weights = new Float64Array(4);
    this.columns = new Map();
    for (const column of motion.columns) this.columns.set(column.name, { ...column, part: column });
    this.addDerived();
  }

  // Poses of bodies 1 .. n at t: 7 numbers each, position and quaternion x, y, z, w.
  posesAt(t, out) {
    const w = this.weights, base = weightsAt(this.keyTimes, t, w), last = this.keyTimes.length - 1, width = this.width;
    out.fill(0, 0, width);
    for (let k = 0; k < 4; k++) {
      if (w[k] === 0) continue;
      const from = Math.min(last, Math.max(0, base + k - 1)) * width, weight = w[k];
      for (let c = 0; c < width; c++) out[c] += weight * this.values[from + c];
    }
    for (let c = 3; c < width; c += 7) {
      const n = Math.hypot(out[c], out[c + 1], out[c + 2], out[c + 3]) || 1;
      out[c] /= n; out[c + 1] /= n; out[c + 2] /= n; out[c + 3] /= n;
    }
    return out;
  }

  // All numbers of a column, one for each sample.
  dense(name) {
    const column = this.columns.get(name);
    if (!column) return null;
    if (column.values) return column.values;
    if (column.make) return column.values = column.make();
    const count = this.times.length, keys = keysOf(column.part, count), v = decode(column.part.v, Float32Array);
    if (keys.length === count) return column.values = Float64Array.from(v);
    const times = Float64Array.from(keys, k => this.times[k]), w = new Float64Array(4), last = keys.length - 1;
    column.values = Float64Array.from(this.times, t => {
      const base = weightsAt(times, t, w);
      let sum = 0;
      for (let k = 0; k < 4; k++) if (w[k] !== 0) sum += w[k] * v[Math.min(last, Math.max(0, base + k - 1))];
      return sum;
    });
    return column.values;
  }

  // The value of a column at t, linear between samples.
  valueAt(name, t) {
    const y = this.dense(name);
    if (!y) return NaN;
    if (y.length < 2) return y[0];
    const i = interval(this.times, t), s = (t - this.times[i]) / (this.times[i + 1] - this.times[i]);
    return s <= 0 ? y[i] : s >= 1 ? y[i + 1] : y[i] + s * (y[i + 1] - y[i]);
  }

  addColumn(name, unit, make) {
    if (!this.columns.has(name)) this.columns.set(name, { name, unit, make, derived: true });
  }

  // Quantities that follow from the recorded ones.
  addDerived() {
    const has = name => this.columns.has(name);
    if (has('kinetic') && has('potential'))
      this.addColumn('total', 'J', () => {
        const a = this.dense('kinetic'), b = this.dense('potential');
        return a.map((x, k) => x + b[k]);
      });
    const norm = (name, unit, parts) => {
      if (parts.every(has))
        this.addColumn(name, unit, () => {
          const y = parts.map(p => this.dense(p));
          return y[0].map((x, k) => Math.hypot(x, y[1][k], y[2][k]));
        });
    };
    for (const joint of this.model.joints) {
      norm(`|reaction(${joint.name}).f|`, 'N', ['fx', 'fy', 'fz'].map(c => `reaction(${joint.name}).${c}`));
      norm(`|reaction(${joint.name}).t|`, 'N m', ['tx', 'ty', 'tz'].map(c => `reaction(${joint.name}).${c}`));
    }
    this.model.bodies.forEach((body, b) => {
      if (b > 0)
        ['x', 'y', 'z'].forEach((axis, k) =>
          this.addColumn(`com(${body.name}).${axis}`, 'm', () => this.track(b, body.com, this.times).map(p => p[k])));
    });
  }

  // World positions of a point of a body at the given times.
  track(body, point, times) {
    const pose = new Float64Array(this.width + 7), out = [];
    for (const t of times) {
      if (body > 0) this.posesAt(t, pose);
      out.push(body > 0 ? placePoint(pose, 7 * (body - 1), point) : [...point]);
    }
    return out;
  }
}

// A point of a body's frame in the world, by the pose at an offset of an array of poses.
function placePoint(pose, at, p) {
  const x = pose[at + 3], y = pose[at + 4], z = pose[at + 5], w = pose[at + 6];
  const tx = 2 * (y * p[2] - z * p[1]), ty = 2 * (z * p[0] - x * p[2]), tz = 2 * (x * p[1] - y * p[0]);
  return [pose[at] + p[0] + w * tx + y * tz - z * ty,
    pose[at + 1] + p[1] + w * ty + z * tx - x * tz,
    pose[at + 2] + p[2] + w * tz + x * ty - y * tx];
}

// The second motion's numbers at the first one's times: columns "NAME (difference)" and the distance of bodies.
function addDifferences(first, second) {
  const at = (motion, name) => Float64Array.from(first.times, t => t < motion.start || t > motion.end ? NaN : motion.valueAt(name, t));
  for (const column of [...first.columns.values()]) {
    if (!second.columns.has(column.name)) continue;
    first.addColumn(column.name + ' (difference)', column.unit, () => {
      const a = first.dense(column.name), b = at(second, column.name);
      return a.map((x, k) => b[k] - x);
    });
  }
  const pairs = first.model.bodies.map((body, b) => [b, second.model.bodies.findIndex(o => o.name === body.name)])
    .filter(([b, o]) => b > 0 && o > 0);
  first.addColumn('largest distance of a body', 'm', () => {
    const a = new Float64Array(first.width), b = new Float64Array(second.width);
    return Float64Array.from(first.times, t => {
      if (t < second.start || t > second.end) return NaN;
      first.posesAt(t, a); second.posesAt(t, b);
      let most = 0;
      for (const [i, j] of pairs) {
        const p = 7 * (i - 1), q = 7 * (j - 1);
        most = Math.max(most, Math.hypot(a[p] - b[q], a[p + 1] - b[q + 1], a[p + 2] - b[q + 2]));
      }
      return most;
    });
  });
}

// A number for people: about five digits, no noise.
function show(x, digits = 5) {
  if (!Number.isFinite(x)) return '–';
  if (x === 0) return '0';
  const size = Math.abs(x);
  let text;
  if (size >= 1e6 || size < 1e-4) text = x.toExponential(Math.max(0, digits - 3)).replace(/\.?0*e/, 'e').replace('e+', 'e');
  else {
    text = x.toPrecision(digits);
    if (text.includes('e')) text = String(Number(text));
    if (text.includes('.')) text = text.replace(/\.?0+$/, '');
  }
  return text.replace(/-/g, '−');
}
