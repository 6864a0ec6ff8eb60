// arrows.js - forces and torques as arrows: reactions of joints, applied forces, springs and bushings, with a common scale.

class Arrow {
  constructor(stage, colour, dashed, double) {
    const u = stage.unit, shaft = new Parts(), white = '#ffffff';
    const pieces = dashed ? [0, 1, 2, 3, 4, 5].map(k => [k / 6, k / 6 + 0.1]) : [[0, 1]];
    for (const [a, b] of pieces) shaft.bar(V(0, 0, a), V(0, 0, b), 0.2 * u, white);
    const material = new THREE.MeshStandardMaterial({ color: linear(colour), roughness: 0.5, emissive: linear(colour), emissiveIntensity: 0.35, depthTest: false, transparent: true, opacity: 0.93 });
    this.shaft = new THREE.Mesh(shaft.geometry(), material);
    const head = new Parts().add(new THREE.ConeBufferGeometry(0.6 * u, 1.7 * u, 18), along(V(0, 0, -0.85 * u), V(0, 0, 1)), white);
    if (double) head.add(new THREE.ConeBufferGeometry(0.6 * u, 1.7 * u, 18), along(V(0, 0, -2.1 * u), V(0, 0, 1)), white);
    this.head = new THREE.Mesh(head.geometry(), material);
    this.headLength = (double ? 2.6 : 1.5) * u;
    this.shaft.renderOrder = this.head.renderOrder = 10; // forces are seen through bodies
    this.group = new THREE.Group();
    this.group.add(this.shaft, this.head);
    stage.root.add(this.group);
  }

  place(at, direction, length) {
    this.group.visible = length > 1e-9;
    if (!this.group.visible) return;
    this.group.position.copy(at);
    this.group.quaternion.setFromUnitVectors(V(0, 0, 1), direction.clone().normalize());
    this.shaft.scale.z = Math.max(1e-6, length - this.headLength);
    this.head.position.z = length;
    const small = Math.min(1, length / (1.6 * this.headLength));
    this.head.scale.setScalar(small);
    this.shaft.scale.z = Math.max(1e-6, length - small * this.headLength);
  }
}

class Arrows {
  constructor(stage) {
    this.stage = stage;
    const colours = theme.colours, motion = stage.motions[0], has = name => motion.columns.has(name), model = stage.model;
    this.items = [];
    const vector = (prefix, parts) => parts.map(c => `${prefix}.${c}`);
    const add = (kind, name, columns, place, dashed, colour, double, unit) =>
      this.items.push({ kind, name, columns, place, dashed, colour, double, unit, arrow: null });
    model.joints.forEach(joint => {
      const f = vector(`reaction(${joint.name})`, ['fx', 'fy', 'fz']), t = vector(`reaction(${joint.name})`, ['tx', 'ty', 'tz']);
      const at = pose => this.point(pose, joint.bodies[1], joint.frames[1]);
      const open = from => joint.unique ? joint.unique.slice(from, from + 3).some(u => !u) : false;
      if (joint.type === 'free') return;
      if (f.every(has)) add('reactions', joint.name, f, at, open(0), colours.reaction, false, 'N');
      if (t.every(has)) add('torques', joint.name, t, at, open(3), colours.torque, true, 'N m');
    });
    model.forces.forEach(force => {
      const prefix = `force(${force.name})`;
      if (force.type === 'spring' && has(prefix)) {
        for (const side of [0, 1])
          if (force.bodies[side] > 0)
            add('springForces', force.name, [prefix], pose => this.point(pose, force.bodies[side], force.points[side]), false, colours.springForce, false, 'N');
        this.items.filter(i => i.name === force.name && i.kind === 'springForces').forEach((item, k) => {
          const side = force.bodies[0] > 0 ? k : 1;
          item.direct = (pose, value) => {
            const ends = stage.endsOf(force, pose);
            return ends[1 - side].sub(ends[side]).normalize().multiplyScalar(value);
          };
        });
      } else if (force.type === 'applied' || force.type === 'bushing' || force.type === 'contact') {
        const side = force.type === 'applied' ? 0 : 1, kind = force.type === 'applied' ? 'applied' : 'springForces';
        const f = vector(prefix, ['fx', 'fy', 'fz']), t = vector(prefix, ['tx', 'ty', 'tz']);
        const at = pose => this.point(pose, force.bodies[side], force.points[side]);
        if (f.every(has)) add(kind, force.name, f, at, false, kind === 'applied' ? colours.applied : colours.springForce, false, 'N');
        if (t.every(has)) add(side ? 'torques' : kind, force.name, t, at, false, colours.torque, true, 'N m');
      }
    });
    this.most = { N: 0, 'N m': 0 };
    this.measured = false;
  }

  point(pose, body, p) { return vectorOf(body > 0 ? placePoint(pose, 7 * (body - 1), p) : p); }

  kinds() { return new Set(this.items.map(i => i.kind)); }

  // The largest force and torque of the run among what is shown, which the scale comes from: the 90th percentile, so
  // that peaks do not make all else invisible.
  measure() {
    const key = ['reactions', 'torques', 'springForces', 'applied'].filter(k => this.stage.show[k]).join();
    if (this.measured === key) return;
    this.measured = key;
    const motion = this.stage.motions[0];
    for (const unit of ['N', 'N m']) {
      const peaks = [];
      for (const item of this.items) {
        if (item.unit !== unit || !this.stage.show[item.kind]) continue;
        const y = item.columns.map(c => motion.dense(c)), stride = Math.max(1, Math.floor(y[0].length / 300));
        for (let k = 0; k < y[0].length; k += stride) peaks.push(Math.hypot(...y.map(c => c[k])));
      }
      peaks.sort((a, b) => a - b);
      this.most[unit] = peaks.length ? peaks[Math.floor(0.9 * (peaks.length - 1))] || peaks[peaks.length - 1] : 0;
    }
    // Torques that are the rounding of forces times lengths are none.
    if (this.most['N m']) this.most['N m'] = Math.max(this.most['N m'], 1e-9 * this.most['N'] * this.stage.size);
  }

  length(size, unit) {
    const most = this.most[unit] || 1, s = this.stage.show, full = 0.24 * this.stage.size * s.scale;
    const part = s.log ? Math.max(0, 1 + Math.log10(Math.max(size / most, 1e-12)) / 3) : size / most;
    return Math.min(part, 1.5) * full; // what is longer would leave the picture
  }

  place(t) {
    const stage = this.stage, motion = stage.motions[0], pose = stage.poses[0];
    this.measure();
    for (const item of this.items) {
      const on = stage.show[item.kind];
      if (!on) { if (item.arrow) item.arrow.group.visible = false; continue; }
      if (!item.arrow) item.arrow = new Arrow(stage, item.colour, item.dashed, item.double);
      const values = item.columns.map(c => motion.valueAt(c, t));
      const v = item.direct ? item.direct(pose, values[0]) : V(...values), size = v.length();
      if (!Number.isFinite(size) || size < 1e-6 * (this.most[item.unit] || 1)) { item.arrow.group.visible = false; continue; }
      item.arrow.place(item.place(pose), v, this.length(size, item.unit));
    }
  }

  // What the arrows mean: a bar of a round number of newtons for each kind that is shown.
  legend(box, pixelsPerMetre) {
    const rows = [], names = { reactions: 'Joint reaction', torques: 'Torque', springForces: 'Spring, bushing', applied: 'Applied' };
    for (const kind of this.kinds()) {
      if (!this.stage.show[kind]) continue;
      const item = this.items.find(i => i.kind === kind && i.unit === (kind === 'torques' ? 'N m' : 'N')) || this.items.find(i => i.kind === kind), most = this.most[item.unit];
      if (!(most > 0)) continue;
      const wanted = most / 2, p = Math.pow(10, Math.floor(Math.log10(wanted))), round = [5, 2, 1].map(f => f * p).find(x => x <= wanted) || wanted;
      const long = Math.max(4, Math.min(160, this.length(round, item.unit) * pixelsPerMetre));
      rows.push([names[kind], item.colour, false, `${show(round, 3)} ${item.unit}`, long]);
      if (this.items.some(i => i.kind === kind && i.dashed)) rows.push([`${names[kind]}, not unique`, item.colour, true, '', 40]);
    }
    const text = JSON.stringify(rows);
    if (box.dataset.shown === text) return;
    box.dataset.shown = text;
    box.replaceChildren(...rows.map(([name, colour, dashed, value, long]) => {
      const space = 'http://www.w3.org/2000/svg', svg = document.createElementNS(space, 'svg'), line = document.createElementNS(space, 'path');
      svg.setAttribute('viewBox', `0 0 ${long} 10`);
      svg.style.width = `${long}px`;
      line.setAttribute('d', `M1 5H${long - 7}m0-4 6 4-6 4z`);
      line.setAttribute('stroke', colour); line.setAttribute('fill', colour); line.setAttribute('stroke-width', '2');
      if (dashed) line.setAttribute('stroke-dasharray', '7 5');
      svg.append(line);
      return make('div', {}, svg, value ? `${value} ` : '', make('span', { className: 'soft', textContent: name }));
    }));
  }
}
