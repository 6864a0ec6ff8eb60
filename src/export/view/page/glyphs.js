// glyphs.js - signs for joints by type, in the joint's frame (its axis is z), and for springs, dampers, bushings.

// The part that sits on the second body.
function jointGlyph(joint, unit, colours) {
  const parts = new Parts(), u = unit, c = colours.joint, z = V(0, 0, 1), o = V(0, 0, 0), I = new THREE.Matrix4();
  const tint = joint.redundant ? colours.redundant : joint.cut ? colours.cut : colours.joint;
  const onAxis = (axis, from, to, r, colour) => parts.bar(axis.clone().multiplyScalar(from), axis.clone().multiplyScalar(to), r, colour);
  const x = V(1, 0, 0), y = V(0, 1, 0);
  switch (joint.type) {
    case 'revolute':
      onAxis(z, -0.75 * u, 0.75 * u, 0.85 * u, tint);
      onAxis(z, -0.95 * u, 0.95 * u, 0.4 * u, colours.panel);
      onAxis(z, -1.5 * u, 1.5 * u, 0.12 * u, c);
      break;
    case 'prismatic':
      parts.add(new THREE.BoxBufferGeometry(1.7 * u, 1.7 * u, 2.6 * u), I, tint);
      break;
    case 'cylindrical':
      onAxis(z, -1.3 * u, 1.3 * u, 0.85 * u, tint);
      break;
    case 'screw':
      onAxis(z, -0.8 * u, 0.8 * u, 0.95 * u, tint);
      break;
    case 'universal':
      onAxis(x, -1.2 * u, 1.2 * u, 0.3 * u, tint);
      onAxis(y, -1.2 * u, 1.2 * u, 0.3 * u, tint);
      parts.ball(o, 0.5 * u, c);
      break;
    case 'spherical':
      parts.ball(o, 0.85 * u, tint);
      parts.add(new THREE.TorusBufferGeometry(0.92 * u, 0.16 * u, divided(10), divided(28, 10)), I, c);
      break;
    case 'planar':
      parts.add(new THREE.BoxBufferGeometry(2.8 * u, 2.8 * u, 0.25 * u), I, tint);
      onAxis(z, -1 * u, 1 * u, 0.2 * u, c);
      break;
    case 'translation':
      parts.add(new THREE.BoxBufferGeometry(1.2 * u, 1.2 * u, 1.2 * u), I, tint);
      for (let k = 0; joint.axes && k < joint.axes.length / 3; k++) {
        const axis = vectorOf(joint.axes.slice(3 * k, 3 * k + 3)).normalize();
        onAxis(axis, -1.7 * u, 1.7 * u, 0.14 * u, c);
      }
      break;
    case 'weld':
      parts.add(new THREE.BoxBufferGeometry(1.1 * u, 1.1 * u, 1.1 * u), new THREE.Matrix4().makeRotationZ(Math.PI / 4), tint);
      break;
    default: return null; // a free joint holds nothing
  }
  if (joint.redundant) parts.add(new THREE.TorusBufferGeometry(1.45 * u, 0.16 * u, divided(10), divided(36, 12)), I, colours.redundant);
  return parts.geometry();
}

// What guides a sliding joint on the first body: a rail over the range of its motion, with a thread for a screw.
function railGeometry(joint, range, unit, colours) {
  const parts = new Parts(), a = V(0, 0, range[0] - 2.2 * unit), b = V(0, 0, range[1] + 2.2 * unit);
  parts.bar(a, b, 0.28 * unit, colours.ground, true);
  if (joint.type === 'screw') {
    const points = [], turns = Math.min(60, Math.max(4, (b.z - a.z) / Math.max(unit, Math.abs(2 * Math.PI * joint.pitch)))) || 4;
    for (let k = 0; k <= 16 * turns; k++)
      points.push(V(0.36 * unit * Math.cos(k * Math.PI / 8), 0.36 * unit * Math.sin(k * Math.PI / 8), a.z + (b.z - a.z) * k / (16 * turns)));
    parts.add(tube(points, 0.1 * unit, 5), new THREE.Matrix4(), colours.joint);
  }
  return parts.geometry();
}

// The support of a joint on ground: a foot below it, along `down` in the world, with its plate.
function addSupport(parts, at, down, unit, colours) {
  const p = vectorOf(at), d = vectorOf(down).normalize(), u = unit;
  const foot = new THREE.CylinderBufferGeometry(0.5 * u, 1.5 * u, 1.9 * u, 4, 1);
  parts.add(foot, along(p.clone().addScaledVector(d, 0.95 * u), d.clone().negate()), colours.ground);
  parts.add(new THREE.BoxBufferGeometry(3.4 * u, 0.35 * u, 3.4 * u), along(p.clone().addScaledVector(d, 2.05 * u), d.clone().negate()), colours.ground);
}

// A motor: an arrow around or along the axis of the driven coordinate.
function driveGeometry(joint, speed, unit, colour) {
  const turns = joint.type === 'prismatic' || joint.type === 'translation' ? false
    : joint.type === 'cylindrical' ? speed === 1 : joint.type === 'planar' ? speed === 2 : joint.type === 'free' ? speed > 2 : true;
  const parts = new Parts(), r = 1.9 * unit;
  if (turns) {
    const points = [];
    for (let k = 0; k <= 40; k++) points.push(V(r * Math.cos(k * 0.11), r * Math.sin(k * 0.11), 0));
    parts.add(tube(points, 0.14 * unit, 7), new THREE.Matrix4(), colour);
    const a = 4.4, head = new THREE.ConeBufferGeometry(0.42 * unit, 1 * unit, 14);
    parts.add(head, along(V(r * Math.cos(a + 0.2), r * Math.sin(a + 0.2), 0), V(-Math.sin(a + 0.2), Math.cos(a + 0.2), 0)), colour);
  } else {
    parts.bar(V(0, 1.6 * unit, -1.6 * unit), V(0, 1.6 * unit, 1.2 * unit), 0.14 * unit, colour);
    parts.add(new THREE.ConeBufferGeometry(0.42 * unit, 1 * unit, 14), along(V(0, 1.6 * unit, 1.7 * unit), V(0, 0, 1)), colour);
  }
  return parts.geometry();
}

// A damper on a coordinate: a cylinder with its rod along a sliding axis, a drum around a turning one.
function jointDamperGeometry(unit, colours, slides) {
  const parts = new Parts();
  if (!slides) return parts.bar(V(0, 0, 0.7 * unit), V(0, 0, 1.3 * unit), 1.5 * unit, colours.damper).geometry();
  return parts.bar(V(0, 0, -3.2 * unit), V(0, 0, 0.4 * unit), 0.75 * unit, colours.damper).bar(V(0, 0, 0.4 * unit), V(0, 0, 3.2 * unit), 0.25 * unit, colours.spring).geometry();
}

// A torsion spring: a flat spiral around the axis, or a small coil along it for a sliding coordinate.
function torsionGeometry(unit, colour, slides) {
  const points = [];
  if (slides) {
    for (let k = 0; k <= 120; k++) points.push(V(1.25 * unit * Math.cos(k * 0.36), 1.25 * unit * Math.sin(k * 0.36), unit * (-3.2 + k * 6.4 / 120)));
    return new Parts().add(tube(points, 0.13 * unit, 6), new THREE.Matrix4(), colour).geometry();
  }
  for (let k = 0; k <= 90; k++) {
    const a = k * 0.21, r = unit * (1.05 + 0.011 * k);
    points.push(V(r * Math.cos(a), r * Math.sin(a), 0.9 * unit));
  }
  return new Parts().add(tube(points, 0.11 * unit, 6), new THREE.Matrix4(), colour).geometry();
}

// Springs and dampers lie between two points that move: their parts are made for length 1 along z and stretched.
const coilTurns = 9;
function coilGeometry(radius, wire, length) {
  const points = [], straight = 0.09, steps = coilTurns * 22;
  points.push(V(0, 0, 0), V(0, 0, straight * 0.8));
  for (let k = 0; k <= steps; k++) {
    const a = 2 * Math.PI * coilTurns * k / steps, fade = Math.min(1, k / 11, (steps - k) / 11);
    points.push(V(radius * fade * Math.cos(a), radius * fade * Math.sin(a), straight + (1 - 2 * straight) * k / steps));
  }
  points.push(V(0, 0, 1 - straight * 0.8), V(0, 0, 1));
  for (const p of points) p.z *= length; // the wire is round at this length
  const g = tube(points, wire, 7);
  g.scale(1, 1, 1 / length);
  return g;
}

class Strut {
  constructor(element, unit, colours, length) {
    this.element = element;
    this.group = new THREE.Group();
    const material = colour => new THREE.MeshStandardMaterial({ color: linear(colour), roughness: 0.45, metalness: 0.35 });
    this.unit = unit;
    if (element.type === 'distance') {
      this.coil = this.mesh(new THREE.CylinderBufferGeometry(0.22 * unit, 0.22 * unit, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5), material(colours.constraint));
    } else {
      const size = Math.min(1.9 * unit, 0.16 * length);
      if (element.springs) this.coil = this.mesh(coilGeometry(size, 0.15 * size, Math.max(length, 2 * unit)), material(colours.spring));
      if (element.damps) {
        const r = (element.springs ? 0.36 : 0.7) * size;
        this.tube = this.mesh(new THREE.CylinderBufferGeometry(r, r, 1, 20).rotateX(Math.PI / 2).translate(0, 0, 0.5), material(colours.damper));
        this.rod = this.mesh(new THREE.CylinderBufferGeometry(0.35 * r, 0.35 * r, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5), material(colours.spring));
      }
    }
    this.body = 0.5 * length;
    // Eyes at both ends; the one on ground is a block.
    if (length > 3 * unit) this.ends = element.bodies.map(b => this.mesh(b === 0 ? new THREE.BoxBufferGeometry(1.6 * unit, 1.6 * unit, 0.5 * unit) : new THREE.SphereBufferGeometry(0.5 * unit, 16, 12), material(b === 0 ? colours.ground : colours.joint)));
  }

  mesh(geometry, material) {
    const mesh = new THREE.Mesh(geometry, material);
    mesh.castShadow = true;
    this.group.add(mesh);
    return mesh;
  }

  // From a to b, at most `most` long as drawn: what reaches far away is cut short.
  place(a, b, most) {
    const line = b.clone().sub(a), length = Math.max(line.length(), 1e-9);
    const shown = Math.min(length, most);
    const turned = length > most && this.element.bodies[0] === 0; // the end on a moving body is the one that is seen
    this.group.position.copy(turned ? b : a);
    this.group.quaternion.setFromUnitVectors(V(0, 0, 1), line.multiplyScalar((turned ? -1 : 1) / length));
    if (this.coil) this.coil.scale.z = shown;
    if (this.ends) this.ends.forEach((end, k) => { end.position.z = (k === 0) === !turned ? 0 : length; end.visible = shown === length || (k === 0) === !turned; });
    if (this.tube) {
      const body = Math.min(this.body, 0.75 * shown);
      this.tube.scale.z = body;
      this.rod.position.z = 0.5 * body;
      this.rod.scale.z = Math.max(1e-6, shown - 0.5 * body);
    }
  }
}
