// scene.js - the stage: scene graph, light, ground, camera; places everything at a time.
// World coordinates (metres) stand below `root`, which turns the upward direction to y and scales the mechanism to size 1.

const degrees = Math.PI / 180;

class Stage {
  constructor(canvas, motions) {
    this.canvas = canvas;
    this.motions = motions;
    this.model = motions[0].model;
    this.show = { joints: true, com: false, frames: false, markers: true, forces: true, ground: true, grid: true, shadow: true, ghost: true,
      reactions: false, torques: false, springForces: false, applied: true, log: false, scale: 1 };
    this.quality = 2; this.selected = null; this.loop = -1; this.follow = -1; this.trails = new Set(); // trails: keys, see trailKey
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.gammaOutput = true;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.autoUpdate = false; // only when something has moved
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.camera = new THREE.PerspectiveCamera(28, 1, 0.01, 400);
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.enableKeys = false;
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.16;
    this.controls.addEventListener('change', () => { this.dirty = true; });
    this.poses = motions.map(m => new Float64Array(m.width + 7));
    this.measure();
    this.build();
  }

  // --- measures: extent of the motion, plane of the motion, upward direction, size of signs ---------------------------

  attachments(model) {
    const points = model.bodies.map(() => []);
    for (const joint of model.joints)
      joint.bodies.forEach((b, side) => { if (joint.type !== 'free') points[b].push(joint.frames[side].slice(0, 3)); });
    for (const element of [...model.forces, ...model.constraints])
      if (element.points && element.type !== 'rolling') element.bodies.forEach((b, side) => { if (element.points[side]) points[b].push(element.points[side]); });
    return points;
  }

  // The point of a pure slide is any point: where the given one lies off its bodies, the sign is drawn between them.
  placeSlides(model, motion) {
    const pose = motion.posesAt(motion.start, new Float64Array(motion.width + 7)), u = 0.03 * model.size;
    const matrix = b => {
      const k = 7 * (b - 1), m = new THREE.Matrix4();
      return b > 0 ? m.compose(V(pose[k], pose[k + 1], pose[k + 2]), new THREE.Quaternion(pose[k + 3], pose[k + 4], pose[k + 5], pose[k + 6]), V(1, 1, 1)) : m;
    };
    for (const joint of model.joints) {
      if (joint.type !== 'prismatic' && joint.type !== 'translation') continue;
      const [a, b] = joint.bodies, away = side => {
        const body = model.bodies[joint.bodies[side]], p = joint.frames[side].slice(0, 3);
        if (joint.bodies[side] === 0) return 0;
        const others = [body.com];
        for (const j of model.joints) if (j !== joint && j.type !== 'free' && j.type !== 'prismatic' && j.type !== 'translation') j.bodies.forEach((o, s) => { if (o === joint.bodies[side]) others.push(j.frames[s]); });
        if (body.shapes) return nearestOnShapes(body.shapes, p).distanceTo(vectorOf(p));
        let least = Infinity;
        for (const q of others) least = Math.min(least, new THREE.Line3(vectorOf(others[0]), vectorOf(q)).closestPointToPoint(vectorOf(p), true, V(0, 0, 0)).distanceTo(vectorOf(p)));
        return least;
      };
      if (away(0) < u && away(1) < u) continue;
      const ma = matrix(a), mb = matrix(b), ca = vectorOf(model.bodies[a].com).applyMatrix4(ma), cb = vectorOf(model.bodies[b].com).applyMatrix4(mb);
      const at = a === 0 ? cb : b === 0 ? ca : ca.add(cb).multiplyScalar(0.5);
      const second = V(0, 0, 0).applyMatrix4(mb.clone().multiply(frameMatrix(joint.frames[1]))), first = V(0, 0, 0).applyMatrix4(ma.clone().multiply(frameMatrix(joint.frames[0])));
      const gap = at.clone().sub(second); // both frames are moved alike, so that the displacement stays what it is
      [[0, ma, first], [1, mb, second]].forEach(([side, m, p]) => {
        const there = p.clone().add(gap).applyMatrix4(new THREE.Matrix4().getInverse(m));
        joint.frames[side] = [there.x, there.y, there.z, ...joint.frames[side].slice(3)];
      });
    }
  }

  measure() {
    this.motions.forEach(m => this.placeSlides(m.model, m));
    const motion = this.motions[0], model = this.model, keys = motion.keyTimes, times = [];
    for (let k = 0; k < 60; k++) times.push(motion.start + (motion.end - motion.start) * k / 59);
    this.attached = this.attachments(model);
    const local = model.bodies.map((body, b) => {
      const held = apart(this.attached[b].map(vectorOf), 1e-3 * model.size).length; // as addLinks counts them
      const box = !body.shapes && held < 2 ? inertiaBox(body, held || model.bodies.length > 2 ? 2 * model.size : Infinity) : null, own = [body.com, ...(body.shapes || []).flatMap(hullOf), ...this.attached[b]];
      if (box) for (const x of [-0.5, 0.5]) for (const y of [-0.5, 0.5]) for (const z of [-0.5, 0.5])
        own.push(V(x * box.lengths[0], y * box.lengths[1], z * box.lengths[2]).applyMatrix4(box.place).toArray());
      return own;
    });
    this.masses = model.bodies.map((body, b) => b > 0 ? body.mass || 1e-9 : 0);
    this.samples = []; // poses at these times
    this.cloud = []; // points of the mechanism in the world, for framing: one list per time
    const pose = this.poses[0];
    for (const t of times) {
      motion.posesAt(t, pose);
      const points = [];
      local.forEach((own, b) => {
        if (b > 0) for (const p of own.slice(0, 20)) points.push(vectorOf(placePoint(pose, 7 * (b - 1), p)));
      });
      this.samples.push(pose.slice());
      this.cloud.push(points);
      (this.middles = this.middles || []).push(this.middle(pose));
    }
    const ground = model.joints.filter(j => j.bodies.includes(0) && j.type !== 'free').map(j => vectorOf(j.frames[j.bodies[0] === 0 ? 0 : 1]));
    const near = new THREE.Box3().setFromPoints([...(this.cloud[0] || []), ...ground]).getSize(V(0, 0, 0)).length() || 1;
    motion.posesAt(motion.start, pose);
    for (const e of [...model.forces, ...model.constraints]) // ends of springs on ground, but not those at the end of the world
      if (e.points && e.points.length === 2 && e.bodies.includes(0)) {
        const [a, b] = this.endsOf(e, pose);
        if (a.distanceTo(b) < 1.5 * near) ground.push(e.bodies[0] === 0 ? a : b);
      }
    this.anchors = ground;
    const sizes = this.cloud.map(points => new THREE.Box3().setFromPoints([...points, ...ground]).getSize(V(0, 0, 0)).length()).sort((a, b) => a - b);
    const all = new THREE.Box3().setFromPoints([].concat(...this.cloud, ground));
    if (all.isEmpty()) all.expandByPoint(V(-0.5, -0.5, -0.5)).expandByPoint(V(0.5, 0.5, 0.5));
    const whole = all.getSize(V(0, 0, 0)).length();
    let own = sizes.length ? sizes[sizes.length >> 1] : 0;
    if (!(own > 1e-3 * whole)) own = whole || 1;
    this.travels = whole > 5 * own && ground.length === 0; // it flies off: the camera goes along
    this.size = this.travels ? own : whole || 1;
    this.centre = all.getCenter(V(0, 0, 0));
    this.box = all;
    const lengths = [];
    model.bodies.forEach((body, b) => {
      if (b === 0) return;
      const points = local[b].map(vectorOf);
      let most = 0;
      for (const p of points.slice(0, 12)) for (const q of points.slice(0, 12)) most = Math.max(most, p.distanceTo(q));
      if (most > 0) lengths.push(most);
    });
    lengths.sort((a, b) => a - b);
    const typical = lengths.length ? lengths[lengths.length >> 1] : this.size;
    this.unit = Math.min(0.016 * this.size, Math.max(0.0028 * this.size, 0.04 * typical));
    this.findPlane();
  }

  // The normal of a plane in which everything moves, and the upward direction.
  findPlane() {
    const motion = this.motions[0], n = this.model.bodies.length - 1, a = new Float64Array(motion.width), b = this.poses[0];
    const g = vectorOf(this.model.gravity);
    motion.posesAt(motion.start, a);
    let normal = null, planar = n > 0;
    const turn = (body, out) => { // relative rotation vector since the start, about its axis in the world
      const k = 7 * (body - 1) + 3, q0 = new THREE.Quaternion(a[k], a[k + 1], a[k + 2], a[k + 3]), q1 = new THREE.Quaternion(b[k], b[k + 1], b[k + 2], b[k + 3]);
      q1.multiply(q0.inverse());
      return out.set(q1.x, q1.y, q1.z);
    };
    const axis = V(0, 0, 0), moved = [];
    const times = [];
    for (let k = 1; k <= 24; k++) times.push(motion.start + (motion.end - motion.start) * k / 24);
    for (const t of times) {
      motion.posesAt(t, b);
      for (let body = 1; body <= n; body++) {
        if (turn(body, axis).length() > 0.02) {
          axis.normalize();
          if (!normal) normal = axis.clone();
          else if (Math.abs(normal.dot(axis)) < 0.9999) planar = false;
        }
        const k = 7 * (body - 1);
        moved.push(V(b[k] - a[k], b[k + 1] - a[k + 1], b[k + 2] - a[k + 2]));
      }
    }
    const far = Math.max(...moved.map(v => v.length()), 0);
    if (!normal) { // nothing turns: the axes of hinges, or the plane of displacements and gravity
      const hinge = this.model.joints.find(j => j.type === 'revolute');
      const main = moved.find(v => v.length() > 0.5 * far) || V(0, 0, 0), other = moved.find(v => v.clone().cross(main).length() > 0.05 * far * far);
      if (other && far > 1e-6 * this.size) normal = main.clone().cross(other).normalize();
      else if (hinge) {
        const b0 = hinge.bodies[1] || hinge.bodies[0], side = hinge.bodies[1] ? 1 : 0, f = hinge.frames[side];
        const q = new THREE.Quaternion(f[3], f[4], f[5], f[6]), k = 7 * (b0 - 1) + 3;
        normal = V(0, 0, 1).applyQuaternion(q).applyQuaternion(new THREE.Quaternion(a[k], a[k + 1], a[k + 2], a[k + 3]));
        planar = this.model.joints.every(j => j.type === 'revolute' || j.type === 'prismatic' || j.type === 'planar' || j.type === 'weld');
      } else if (main.length() > 0) {
        normal = main.clone().cross(g.length() && main.clone().cross(g).length() > 0.05 * far * g.length() ? g : Math.abs(main.x) > 0.7 * far ? V(0, 1, 0) : V(1, 0, 0)).normalize();
      } else planar = false;
    }
    if (normal && moved.some(v => Math.abs(v.dot(normal)) > 1e-3 * Math.max(far, 1e-3 * this.size))) planar = false;
    if (normal && planar) { // thin across the plane: a mechanism with depth is looked at from an angle
      let low = Infinity, high = -Infinity;
      for (const p of this.cloud[0]) { const d = p.dot(normal); low = Math.min(low, d); high = Math.max(high, d); }
      if (high - low > 0.45 * this.size) planar = false;
    }
    this.up = g.length() > 0 ? g.clone().negate().normalize() : V(0, 0, 1);
    this.planar = planar && normal ? normal : null;
    if (this.planar) {
      if (Math.abs(this.planar.dot(this.up)) > 0.9)
        this.up = Math.abs(this.planar.z) > 0.9 ? V(0, 1, 0) : V(0, 0, 1);
      this.up.addScaledVector(this.planar, -this.up.dot(this.planar)).normalize();
      // x to the right where that is possible
      const right = this.up.clone().cross(this.planar);
      if (right.x + 0.5 * right.y + 0.25 * right.z < 0) this.planar.negate();
    }
  }

  // --- building -----------------------------------------------------------------------------------------------------

  build() {
    const colours = theme.colours, model = this.model, u = this.unit;
    if (this.scene) this.dispose();
    const parts = model.bodies.length + model.joints.length;
    detail = parts > 400 ? 0.35 : parts > 150 ? 0.5 : parts > 60 ? 0.75 : 1;
    this.scene = new THREE.Scene();
    this.root = new THREE.Group();
    const x = V(1, 0, 0), turned = new THREE.Matrix4();
    const side = Math.abs(this.up.dot(x)) < 0.9 ? x : V(0, 1, 0);
    const e1 = side.clone().addScaledVector(this.up, -side.dot(this.up)).normalize(), e3 = e1.clone().cross(this.up);
    turned.makeBasis(e1, this.up, e3);                    // columns: images of x, y, z of the stage in the world
    this.root.quaternion.setFromRotationMatrix(turned.clone().transpose());
    this.root.scale.setScalar(1 / this.size);
    this.root.position.copy(this.centre).applyQuaternion(this.root.quaternion).multiplyScalar(-1 / this.size);
    this.root.updateMatrix();
    this.scene.add(this.root);
    this.lights();
    this.material = new THREE.MeshStandardMaterial({ vertexColors: THREE.VertexColors, roughness: 0.5, metalness: 0.12 });
    this.bright = new THREE.MeshStandardMaterial({ vertexColors: THREE.VertexColors, roughness: 0.4, metalness: 0.1, emissive: linear(colours.select), emissiveIntensity: 0.55 });
    this.faint = new THREE.MeshStandardMaterial({ vertexColors: THREE.VertexColors, roughness: 0.7, transparent: true, opacity: 0.16, depthWrite: false });
    this.picks = []; this.frames = []; this.markers = []; this.struts = []; this.elements = [];
    this.groups = model.bodies.map(() => { const g = new THREE.Group(); this.root.add(g); return g; });
    const heaviest = Math.max(...model.bodies.map(b => b.mass), 0), shadows = model.bodies.length <= 120;
    model.bodies.forEach((body, b) => {
      if (b === 0) return;
      const own = model.joints.length ? this.attached[b] : [];
      const geometry = bodyGeometry(body, own, colours.bodies[(b - 1) % colours.bodies.length], u, heaviest, this.size);
      if (geometry) this.addMesh(this.groups[b], geometry, { kind: 'body', index: b }, shadows);
    });
    this.supports = new Parts(); // of all joints on ground, one mesh
    this.jointGroups = model.joints.map((joint, k) => this.addJoint(joint, k, shadows && model.joints.length <= 120));
    if (!this.supports.empty) this.jointGroups.push([this.addMesh(this.groups[0], this.supports.geometry(), { kind: 'body', index: 0 }, shadows)]);
    model.forces.forEach((force, k) => this.addForce(force, k));
    model.constraints.forEach((c, k) => this.addConstraint(c, k));
    if (this.motions[1]) this.addGhost();
    this.addGround();
    this.arrows = new Arrows(this);
    this.trailLines = new Map();
    for (const key of this.trails) this.addTrail(key);
    this.marking();
    this.visibility();
    // What is fixed on a body keeps its place there: only bodies move.
    for (const g of this.groups) g.traverse(o => { if (o !== g) { o.updateMatrix(); o.matrixAutoUpdate = false; } });
    for (const o of [this.root, this.floor]) o.updateMatrix();
    this.root.matrixAutoUpdate = false;
    this.dirty = true;
  }

  dispose() {
    this.scene.traverse(o => { if (o.geometry) o.geometry.dispose(); if (o.material && o.material.dispose) o.material.dispose(); });
    if (this.sun && this.sun.shadow.map) this.sun.shadow.map.dispose();
  }

  lights() {
    const dark = theme.name === 'dark';
    this.scene.add(new THREE.HemisphereLight(0xffffff, dark ? 0x39414d : 0xb9c0ca, dark ? 0.62 : 0.72));
    const sun = this.sun = new THREE.DirectionalLight(0xffffff, dark ? 0.85 : 0.72);
    if (this.planar) { // from the viewer's upper left
      const n = this.stageDirection(this.planar);
      sun.position.copy(n.multiplyScalar(2.2)).add(V(-0.9, 1.5, 0.3));
    } else sun.position.set(1.1, 2.4, 1.5);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    const c = sun.shadow.camera, r = 1.1;
    c.left = -r; c.right = r; c.top = r; c.bottom = -r; c.near = 0.1; c.far = 8;
    sun.shadow.bias = -0.0006; sun.shadow.radius = 3;
    this.scene.add(sun, sun.target);
    const fill = new THREE.DirectionalLight(0xffffff, dark ? 0.22 : 0.18);
    fill.position.set(-1.5, 0.6, -1.2);
    this.scene.add(fill);
  }

  stageDirection(v) { return v.clone().applyQuaternion(this.root.quaternion); }

  addMesh(group, geometry, pick, shadow) {
    const mesh = new THREE.Mesh(geometry, this.material);
    mesh.castShadow = shadow; mesh.receiveShadow = shadow;
    mesh.userData = pick;
    group.add(mesh);
    if (pick) this.picks.push(mesh);
    return mesh;
  }

  // Three axes; place: of a frame on the body, or none for the body's own.
  addFrame(group, length, list, place) {
    const parts = new Parts();
    [['#d6453d', V(1, 0, 0)], ['#3c9a3c', V(0, 1, 0)], ['#3b6fd6', V(0, 0, 1)]].forEach(([colour, axis]) => {
      parts.bar(V(0, 0, 0), axis.clone().multiplyScalar(length), 0.1 * this.unit, colour);
      parts.add(new THREE.ConeBufferGeometry(0.28 * this.unit, 0.8 * this.unit, 10), along(axis.clone().multiplyScalar(length), axis), colour);
    });
    const mesh = new THREE.Mesh(parts.geometry(), this.material);
    if (place) (mesh.applyMatrix4 || mesh.applyMatrix).call(mesh, place);
    group.add(mesh);
    list.push(mesh);
  }

  // How far the second frame of a sliding joint moves along its axis in the first.
  range(joint) {
    const out = [Infinity, -Infinity];
    let pose = null;
    const place = (side) => {
      const b = joint.bodies[side], m = new THREE.Matrix4(), k = 7 * (b - 1);
      if (b > 0) m.compose(V(pose[k], pose[k + 1], pose[k + 2]), new THREE.Quaternion(pose[k + 3], pose[k + 4], pose[k + 5], pose[k + 6]), V(1, 1, 1));
      return m.multiply(frameMatrix(joint.frames[side]));
    };
    for (pose of this.samples) {
      const z = V(0, 0, 0).applyMatrix4(place(1)).applyMatrix4(new THREE.Matrix4().getInverse(place(0))).z;
      out[0] = Math.min(out[0], z); out[1] = Math.max(out[1], z);
    }
    if (out[1] - out[0] > 4 * this.size) return [-2 * this.unit, 2 * this.unit];
    return out;
  }

  addJoint(joint, k, shadow) {
    const colours = theme.colours, holder = new THREE.Group(), pick = { kind: 'joint', index: k };
    const on = joint.bodies[1] !== 0 ? 1 : 0, frame = frameMatrix(joint.frames[on]);
    holder.applyMatrix4 ? holder.applyMatrix4(frame) : holder.applyMatrix(frame);
    const glyph = jointGlyph(joint, this.unit, colours);
    if (glyph) this.addMesh(holder, glyph, pick, shadow);
    if (joint.prescribed) this.addMesh(holder, driveGeometry(joint, Math.log2(joint.prescribed & -joint.prescribed), this.unit, colours.drive), pick, false);
    this.groups[joint.bodies[on]].add(holder);
    const slides = ['prismatic', 'cylindrical', 'screw'].includes(joint.type) && this.model.joints.length <= 200;
    const rail = slides ? railGeometry(joint, this.range(joint), this.unit, colours) : null, holders = [holder];
    if (rail) {
      const base = new THREE.Group(), place = frameMatrix(joint.frames[0]);
      base.applyMatrix4 ? base.applyMatrix4(place) : base.applyMatrix(place);
      this.addMesh(base, rail, pick, shadow);
      this.groups[joint.bodies[0]].add(base);
      holders.push(base);
    }
    const side = joint.bodies.indexOf(0);
    if (side >= 0 && !rail && ['revolute', 'spherical', 'universal', 'weld'].includes(joint.type)) {
      addSupport(this.supports, joint.frames[side], this.up.clone().negate().toArray(), this.unit, colours);
    }
    return holders;
  }

  addForce(force, k) {
    const colours = theme.colours, pick = { kind: 'force', index: k };
    if (force.type === 'spring') this.addStrut(force, pick);
    else if (force.type === 'bushing') {
      const u = this.unit, parts = new Parts(), place = frameMatrix(force.frame);
      parts.add(new THREE.CylinderBufferGeometry(1.25 * u, 1.25 * u, 1.7 * u, 28).rotateZ(Math.PI / 2), place, colours.bushing);
      parts.add(new THREE.CylinderBufferGeometry(0.55 * u, 0.55 * u, 2.1 * u, 20).rotateZ(Math.PI / 2), place, colours.joint);
      const mesh = this.addMesh(this.groups[force.bodies[0]], parts.geometry(), pick, true);
      this.elements.push(mesh);
    } else if (force.type === 'contact') {
      this.addSurface(force, pick);
    } else if (force.type === 'torsion' || force.type === 'drive') {
      if (force.joint < 0) return;
      const joint = this.model.joints[force.joint], geometry = force.type === 'drive'
        ? driveGeometry(joint, force.speed, this.unit, colours.drive) : force.damps && !force.springs ? jointDamperGeometry(this.unit, colours, joint.type === 'prismatic')
          : torsionGeometry(this.unit, colours.spring, joint.type === 'prismatic');
      this.elements.push(this.addMesh(this.jointGroups[force.joint][0], geometry, pick, false));
    }
  }

  // The surface of a contact, as lines: a patch of a plane, a sphere, a cylinder or a box.
  addSurface(force, pick) {
    const s = this.size, parts = new Parts(), place = frameMatrix(force.frame), colour = theme.colours.constraint;
    const thin = 0.12 * this.unit, bar = (a, b) => parts.bar(a.applyMatrix4(place), b.applyMatrix4(place), thin, colour);
    const ring = (radius, turn, z) => parts.add(new THREE.TorusBufferGeometry(radius, thin, 6, 64), place.clone().multiply(new THREE.Matrix4().makeRotationFromEuler(turn).setPosition(V(0, 0, z))), colour);
    if (force.surface === 'plane') {
      for (const k of [-2, -1, 0, 1, 2]) {
        bar(V(-0.3 * s, 0.15 * s * k, 0), V(0.3 * s, 0.15 * s * k, 0));
        bar(V(0.15 * s * k, -0.3 * s, 0), V(0.15 * s * k, 0.3 * s, 0));
      }
    } else if (force.surface === 'sphere') {
      for (const turn of [new THREE.Euler(), new THREE.Euler(Math.PI / 2, 0, 0), new THREE.Euler(0, Math.PI / 2, 0)]) ring(force.radius, turn, 0);
    } else if (force.surface === 'cylinder') {
      const h = force.length > 0 ? force.length / 2 : 0.3 * s;
      for (const z of [-h, h]) ring(force.radius, new THREE.Euler(), z);
      for (let k = 0; k < 8; k++) {
        const x = force.radius * Math.cos(k * Math.PI / 4), y = force.radius * Math.sin(k * Math.PI / 4);
        bar(V(x, y, -h), V(x, y, h));
      }
    } else {
      const [x, y, z] = force.size.map(e => e / 2);
      for (const a of [-1, 1]) for (const b of [-1, 1]) {
        bar(V(-x, a * y, b * z), V(x, a * y, b * z));
        bar(V(a * x, -y, b * z), V(a * x, y, b * z));
        bar(V(a * x, b * y, -z), V(a * x, b * y, z));
      }
    }
    this.elements.push(this.addMesh(this.groups[force.bodies[0]], parts.geometry(), pick, false));
  }

  addConstraint(c, k) {
    const pick = { kind: 'constraint', index: k };
    if (c.type === 'distance') this.addStrut(c, pick);
    if (c.type === 'rolling') {
      const parts = new Parts(), axis = vectorOf(c.axis), disc = axis.length() > 0;
      if (disc) parts.add(new THREE.TorusBufferGeometry(c.radius, 0.35 * this.unit, 10, 64).rotateX(Math.PI / 2), along(vectorOf(c.points[0]), axis), theme.colours.constraint);
      else parts.ball(vectorOf(c.points[0]), c.radius, theme.colours.constraint);
      const spoke = disc ? (Math.abs(axis.x) < 0.8 * axis.length() ? V(1, 0, 0) : V(0, 1, 0)).cross(axis).setLength(c.radius) : V(c.radius, 0, 0);
      parts.bar(vectorOf(c.points[0]).sub(spoke), vectorOf(c.points[0]).add(spoke), 0.25 * this.unit, theme.colours.joint);
      this.elements.push(this.addMesh(this.groups[c.bodies[0]], parts.geometry(), pick, true));
    }
  }

  endsOf(element, poses) {
    return element.bodies.map((b, side) => vectorOf(b > 0 ? placePoint(poses, 7 * (b - 1), element.points[side]) : element.points[side]));
  }

  addStrut(element, pick) {
    const pose = this.motions[0].posesAt(this.motions[0].start, this.poses[0]), [a, b] = this.endsOf(element, pose);
    const strut = new Strut(element, this.unit, theme.colours, a.distanceTo(b) > 1.6 * this.size ? 0.2 * this.size : a.distanceTo(b));
    strut.group.children.forEach(mesh => { mesh.userData = pick; this.picks.push(mesh); });
    this.root.add(strut.group);
    this.struts.push(strut);
  }

  addGhost() {
    const other = this.motions[1].model, colour = theme.colours.ghost;
    const attached = this.attachments(other), heaviest = Math.max(...other.bodies.map(b => b.mass), 0);
    this.ghostMaterial = new THREE.MeshStandardMaterial({ color: linear(colour), transparent: true, opacity: 0.34, roughness: 0.6, depthWrite: false });
    this.ghosts = other.bodies.map((body, b) => {
      const g = new THREE.Group();
      const geometry = b > 0 && bodyGeometry(body, attached[b], colour, this.unit, heaviest, this.size);
      if (geometry) g.add(new THREE.Mesh(geometry, this.ghostMaterial));
      this.root.add(g);
      return g;
    });
  }

  // A floor below the mechanism, or a wall behind a plane one, with a grid in round metres and a soft shadow.
  addGround() {
    const colours = theme.colours, s = this.size;
    const normal = this.planar ? this.planar.clone() : this.up.clone();
    let low = Infinity;
    for (const points of this.travels ? this.cloud.slice(0, 1) : this.cloud) for (const p of points) low = Math.min(low, p.dot(normal));
    for (const j of this.model.joints) if (j.type !== 'free') j.bodies.forEach((b, side) => { if (b === 0) low = Math.min(low, vectorOf(j.frames[side]).dot(normal)); });
    if (!Number.isFinite(low)) low = this.centre.dot(normal) - 0.3 * s;
    low -= this.planar ? 0.06 * s : 2.25 * this.unit;
    const step = Math.pow(10, Math.floor(Math.log10(s / 2.2))), cell = [1, 2, 5, 10].map(f => f * step).find(c => s / c < 9);
    this.cell = cell;
    const centre = this.centre.clone().addScaledVector(normal, low - this.centre.dot(normal));
    const a = this.planar ? this.up.clone().cross(normal).normalize() : (Math.abs(normal.x) < 0.9 ? V(1, 0, 0) : V(0, 1, 0)).addScaledVector(normal, -(Math.abs(normal.x) < 0.9 ? normal.x : normal.y)).normalize();
    const b = normal.clone().cross(a), count = 26, reach = count * cell;
    const snap = axis => Math.round(centre.dot(axis) / cell) * cell;
    const origin = a.clone().multiplyScalar(snap(a)).addScaledVector(b, snap(b)).addScaledVector(normal, low);
    this.floor = new THREE.Group();
    const lines = [], shades = [], fine = linear(colours.grid), coarse = linear(colours.gridMajor);
    for (let k = -count; k <= count; k++)
      for (const [u, v] of [[a, b], [b, a]]) {
        const major = Math.round((snap(u) + k * cell) / cell) % 5 === 0;
        for (let piece = -count; piece < count; piece++) { // in pieces, which fade outwards
          for (const end of [piece, piece + 1]) {
            const p = origin.clone().addScaledVector(u, k * cell).addScaledVector(v, end * cell), r = Math.hypot(k, end) / count;
            lines.push(p.x, p.y, p.z);
            const c = major ? coarse : fine, fade = Math.max(0, 1 - r);
            shades.push(c.r, c.g, c.b, fade * fade * (major ? 0.95 : 0.7));
          }
        }
      }
    const g = new THREE.BufferGeometry();
    g.setAttribute('position', new THREE.Float32BufferAttribute(lines, 3));
    g.setAttribute('shade', new THREE.Float32BufferAttribute(shades, 4));
    this.gridLines = new THREE.LineSegments(g, new THREE.ShaderMaterial({ transparent: true, depthWrite: false,
      vertexShader: 'attribute vec4 shade; varying vec4 s; void main() { s = shade; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }',
      fragmentShader: 'varying vec4 s; void main() { gl_FragColor = vec4(pow(s.rgb, vec3(0.4545)), s.a); }' }));
    const plane = new THREE.Mesh(new THREE.PlaneBufferGeometry(2 * reach, 2 * reach), new THREE.ShadowMaterial({ opacity: theme.name === 'dark' ? 0.42 : 0.17 }));
    plane.receiveShadow = true;
    plane.position.copy(origin).addScaledVector(normal, -0.002 * s);
    plane.quaternion.setFromUnitVectors(V(0, 0, 1), normal);
    this.shade = plane;
    this.floor.add(this.gridLines, plane);
    this.floorAxes = [a, b];
    this.root.add(this.floor);
  }

  // --- trails -------------------------------------------------------------------------------------------------------

  // Of a body's centre of mass "3", of another point of it "3:x:y:z".
  trailKey(body, point) { return point ? [body, ...point.map(x => Number(x.toPrecision(5)))].join(':') : String(body); }

  addTrail(key) {
    const [body, ...given] = key.split(':').map(Number), point = given.length === 3 ? given : (this.model.bodies[body] || {}).com;
    if (!(body > 0) || !point || !point.every(Number.isFinite)) { this.trails.delete(key); return; }
    const motion = this.motions[0], span = motion.end - motion.start, count = Math.min(1500, Math.max(2, 2 * motion.keyTimes.length, 400));
    if (!(span > 0)) return;
    const times = Array.from({ length: count }, (_, k) => motion.start + span * k / (count - 1));
    const points = motion.track(body, point, times).map(vectorOf);
    const colour = linear(theme.colours.trail), group = new THREE.Group();
    const past = new THREE.Mesh(tube(points, 0.16 * this.unit), new THREE.MeshBasicMaterial({ color: colour }));
    const all = new THREE.Mesh(past.geometry.clone(), new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.24, depthWrite: false }));
    group.add(past, all);
    this.root.add(group);
    this.trailLines.set(key, { group, past, count });
  }

  toggleTrail(key, on) {
    if (on) this.trails.add(key); else this.trails.delete(key);
    const line = this.trailLines.get(key);
    if (line && !on) { this.root.remove(line.group); this.trailLines.delete(key); }
    if (!line && on) this.addTrail(key);
    this.place(this.time);
  }

  // --- what is shown and marked -------------------------------------------------------------------------------------

  visibility() {
    const s = this.show;
    for (const holders of this.jointGroups) for (const h of holders) h.visible = s.joints;
    for (const mesh of this.elements) mesh.visible = s.forces;
    for (const strut of this.struts) strut.group.visible = s.forces || strut.element.type === 'distance';
    if (s.frames && !this.frames.length) for (const g of this.groups) this.addFrame(g, 3 * this.unit, this.frames);
    for (const mesh of this.frames) mesh.visible = s.frames;
    if (s.markers && !this.markers.length) for (const f of this.model.frames) this.addFrame(this.groups[f.body], 2 * this.unit, this.markers, frameMatrix(f.frame));
    for (const mesh of this.markers) mesh.visible = s.markers;
    this.gridLines.visible = s.grid;
    this.shade.visible = s.shadow && s.grid;
    this.sun.castShadow = s.shadow;
    this.renderer.shadowMap.needsUpdate = true;
    if (this.ghosts) for (const g of this.ghosts) g.visible = s.ghost;
    this.dirty = true;
  }

  // Bodies and joints of the chosen loop, or all.
  inLoop(pick) {
    if (this.loop < 0) return true;
    const joints = this.model.loops[this.loop] || [];
    if (pick.kind === 'joint') return joints.includes(pick.index);
    if (pick.kind === 'body') return joints.some(j => this.model.joints[j].bodies.includes(pick.index));
    return false;
  }

  marking() {
    for (const mesh of this.picks) {
      const pick = mesh.userData, chosen = this.selected && this.selected.kind === pick.kind && this.selected.index === pick.index;
      if (!mesh.material.vertexColors) continue;
      mesh.material = chosen ? this.bright : this.inLoop(pick) ? this.material : this.faint;
    }
    this.dirty = true;
  }

  // --- time ---------------------------------------------------------------------------------------------------------

  place(t) {
    this.time = t;
    this.motions.forEach((motion, m) => {
      const pose = motion.posesAt(t, this.poses[m]), groups = m ? this.ghosts : this.groups;
      for (let b = 1; b < groups.length; b++) {
        const k = 7 * (b - 1), g = groups[b];
        g.position.set(pose[k], pose[k + 1], pose[k + 2]);
        g.quaternion.set(pose[k + 3], pose[k + 4], pose[k + 5], pose[k + 6]);
      }
    });
    const most = 0.2 * this.size;
    for (const strut of this.struts) {
      const [a, b] = this.endsOf(strut.element, this.poses[0]);
      strut.place(a, b, a.distanceTo(b) > 1.6 * this.size ? most : Infinity);
    }
    const motion = this.motions[0], part = motion.end > motion.start ? (t - motion.start) / (motion.end - motion.start) : 1;
    for (const line of this.trailLines.values()) line.past.geometry.setDrawRange(0, Math.round(part * (line.count - 1)) * 36);
    this.arrows.place(t);
    this.followBody();
    this.renderer.shadowMap.needsUpdate = this.quality > 0;
    this.dirty = true;
  }

  // Called with the duration of each picture while time runs: a machine that cannot follow gets fewer pixels, then no shadow.
  pace(ms) {
    this.slow = ms > 45 ? (this.slow || 0) + 1 : Math.max(0, (this.slow || 0) - 1);
    if (this.slow < 12 || this.quality === 0) return;
    this.slow = 0;
    this.quality--;
    if (this.quality === 0) { this.show.shadow = false; this.visibility(); }
    this.w = 0; // sizes are set anew
  }

  // The point that the camera goes along with: a body, or all of a mechanism that flies off.
  followed() {
    if (this.follow > 0) return vectorOf(placePoint(this.poses[0], 7 * (this.follow - 1), this.model.bodies[this.follow].com));
    return this.travels ? this.middle(this.poses[0]) : null;
  }

  // The centre of mass of all bodies.
  middle(pose) {
    const sum = V(0, 0, 0), total = this.masses.reduce((s, m) => s + m, 0);
    this.model.bodies.forEach((body, b) => { if (b > 0) sum.addScaledVector(vectorOf(placePoint(pose, 7 * (b - 1), body.com)), this.masses[b] / total); });
    return sum;
  }

  followBody() {
    const at = this.followed();
    if (at) {
      const there = this.toStage(at);
      if (this.lastFollowed) {
        const gap = there.clone().sub(this.lastFollowed);
        this.camera.position.add(gap);
        this.controls.target.add(gap);
        this.sun.position.add(gap); this.sun.target.position.add(gap);
      } else this.lastFollowed = there.clone();
      this.lastFollowed.copy(there);
      if (this.travels) { // the grid goes along by whole cells
        const [a, b] = this.floorAxes, from = at.clone().sub(this.centre), cells = 5 * this.cell;
        this.floor.position.copy(a).multiplyScalar(Math.round(from.dot(a) / cells) * cells).addScaledVector(b, Math.round(from.dot(b) / cells) * cells);
      }
    } else this.lastFollowed = null;
  }

  setFollow(body) { this.follow = body; this.lastFollowed = null; this.place(this.time); }

  toStage(v) { return v.clone().applyMatrix4(this.root.matrix); } // the root stands still, below nothing that moves

  // --- camera -------------------------------------------------------------------------------------------------------

  homeDirection() {
    return this.planar ? this.stageDirection(this.planar) : V(0.62, 0.42, 1).normalize();
  }

  // Parts of the height at the upper and the lower edge that are kept free.
  insets() {
    const h = this.h || 600, narrow = this.w < 620;
    return [Math.min(0.12, 40 / h), narrow ? Math.min(0.16, 52 / h) : 0.02];
  }

  // Frames all points of the motion, seen from a direction of the stage.
  frame(direction) {
    // Nothing lies below the legend and the buttons at the edges.
    const [above, below] = this.insets(), full = Math.tan(this.camera.fov * degrees / 2), tanV = full * (1 - above - below), tanH = full * this.camera.aspect;
    const d = direction.clone().normalize(), up = Math.abs(d.y) > 0.98 ? V(0, 0, -Math.sign(d.y)) : V(0, 1, 0);
    const right = up.clone().cross(d).normalize(), top = d.clone().cross(right);
    let points = [];
    if (this.travels) { // all positions relative to the point that the camera goes along with
      const at = this.followed() || this.centre;
      this.cloud.forEach((list, k) => { const from = this.middles[k]; for (const p of list) points.push(p.clone().sub(from).add(at)); });
    } else points = [].concat(...this.cloud, this.anchors);
    points = points.map(p => this.toStage(p));
    if (!points.length) points = [V(-0.4, -0.4, 0), V(0.4, 0.4, 0)];
    const r = 2.6 * this.unit / this.size;
    let xs = [Infinity, -Infinity], ys = [Infinity, -Infinity];
    for (const p of points) {
      const x = p.dot(right), y = p.dot(top);
      xs = [Math.min(xs[0], x - r), Math.max(xs[1], x + r)]; ys = [Math.min(ys[0], y - r), Math.max(ys[1], y + r)];
    }
    const depth = points.reduce((s, p) => s + p.dot(d), 0) / points.length;
    const target = right.clone().multiplyScalar((xs[0] + xs[1]) / 2).addScaledVector(top, (ys[0] + ys[1]) / 2).addScaledVector(d, depth);
    let distance = 0.1;
    for (const p of points) {
      const q = p.clone().sub(target), z = q.dot(d);
      distance = Math.max(distance, (Math.abs(q.dot(right)) + r) / tanH + z, (Math.abs(q.dot(top)) + r) / tanV + z);
    }
    distance *= 1.08;
    target.addScaledVector(top, (above - below) * full * distance);
    this.camera.position.copy(target).addScaledVector(d, distance);
    this.camera.near = distance / 200; this.camera.far = distance * 60;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(target);
    this.controls.update();
    this.lastFollowed = null;
    this.followBody();
    this.dirty = true;
  }

  lookAlong(axis) {
    const d = this.stageDirection({ x: V(1, 0, 0), y: V(0, -1, 0), z: V(0, 0, 1) }[axis]);
    if (Math.abs(d.y) > 0.999) d.z += 1e-4;
    this.frame(d);
  }

  orbit(yaw, pitch, zoom) {
    const from = this.camera.position.clone().sub(this.controls.target), s = new THREE.Spherical().setFromVector3(from);
    s.theta += yaw; s.phi = Math.min(Math.PI - 0.01, Math.max(0.01, s.phi + pitch)); s.radius *= zoom;
    this.camera.position.copy(this.controls.target).add(from.setFromSpherical(s));
    this.controls.update();
    this.dirty = true;
  }

  resize() {
    const w = this.canvas.parentElement.clientWidth, h = this.canvas.parentElement.clientHeight;
    if (!w || !h) return false;
    const ratio = Math.min(window.devicePixelRatio || 1, this.quality < 2 ? 1 : this.model.bodies.length > 150 ? 1.5 : 2);
    if (this.w === w && this.h === h && this.ratio === ratio) return false;
    this.w = w; this.h = h; this.ratio = ratio;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.dirty = true;
    return true;
  }

  draw() {
    this.renderer.render(this.scene, this.camera);
    this.dirty = false;
  }

  // --- pointing -----------------------------------------------------------------------------------------------------

  pick(x, y) {
    const ray = this.ray || (this.ray = new THREE.Raycaster());
    ray.setFromCamera({ x: 2 * x / this.w - 1, y: 1 - 2 * y / this.h }, this.camera);
    const hits = ray.intersectObjects(this.picks.filter(m => m.visible && m.parent.visible), false);
    if (!hits.length) return null;
    const { kind, index } = hits[0].object.userData, pick = { kind, index };
    // The point of the body that is pointed at, in its frame.
    if (kind === 'body') pick.point = hits[0].point.clone().applyMatrix4(new THREE.Matrix4().getInverse(this.groups[index].matrixWorld)).toArray();
    return pick;
  }

  // Pixels of a world point in the canvas.
  project(p) {
    const v = this.toStage(vectorOf(p)).project(this.camera);
    return [(v.x + 1) / 2 * this.w, (1 - v.y) / 2 * this.h];
  }
}
