// shapes.js - geometry of bodies: their shapes, or links between their joints; parts are merged into one mesh.

const V = (x, y, z) => new THREE.Vector3(x, y, z);
const vectorOf = p => new THREE.Vector3(p[0], p[1], p[2]);
const linear = colour => new THREE.Color(colour).convertSRGBToLinear();

// How finely round things are divided: 1, and less in models of many bodies.
let detail = 1;
const divided = (n, least = 6) => Math.max(least, Math.round(n * detail));

// Many geometries as one, with a colour for each vertex.
class Parts {
  constructor() { this.position = []; this.normal = []; this.colour = []; this.index = []; }

  add(geometry, matrix, colour) {
    const g = geometry, p = g.attributes.position, n = g.attributes.normal, first = this.position.length / 3;
    const turn = new THREE.Matrix3().getNormalMatrix(matrix), v = V(0, 0, 0), c = linear(colour);
    for (let k = 0; k < p.count; k++) {
      v.fromBufferAttribute(p, k).applyMatrix4(matrix);
      this.position.push(v.x, v.y, v.z);
      v.fromBufferAttribute(n, k).applyMatrix3(turn).normalize();
      this.normal.push(v.x, v.y, v.z);
      this.colour.push(c.r, c.g, c.b);
    }
    if (g.index) for (let k = 0; k < g.index.count; k++) this.index.push(first + g.index.array[k]);
    else for (let k = 0; k < p.count; k++) this.index.push(first + k);
    g.dispose();
    return this;
  }

  // A round bar from a to b.
  bar(a, b, radius, colour, ends = false) {
    const line = b.clone().sub(a), length = line.length();
    if (length > 1e-12)
      this.add(new THREE.CylinderBufferGeometry(radius, radius, length, divided(20)), along(a.clone().add(b).multiplyScalar(0.5), line), colour);
    if (ends) this.ball(a, radius, colour).ball(b, radius, colour);
    return this;
  }

  ball(at, radius, colour) {
    return this.add(new THREE.SphereBufferGeometry(radius, divided(28), divided(20, 4)), new THREE.Matrix4().setPosition(at), colour);
  }

  get empty() { return this.index.length === 0; }

  geometry() {
    const g = new THREE.BufferGeometry();
    g.setAttribute('position', new THREE.Float32BufferAttribute(this.position, 3));
    g.setAttribute('normal', new THREE.Float32BufferAttribute(this.normal, 3));
    g.setAttribute('color', new THREE.Float32BufferAttribute(this.colour, 3));
    g.setIndex(this.index);
    g.computeBoundingSphere();
    return g;
  }
}

// The placement of a geometry whose axis is y at a point, along a direction.
function along(at, direction) {
  const q = new THREE.Quaternion().setFromUnitVectors(V(0, 1, 0), direction.clone().normalize());
  return new THREE.Matrix4().compose(at, q, V(1, 1, 1));
}
function frameMatrix(frame) {
  return new THREE.Matrix4().compose(vectorOf(frame), new THREE.Quaternion(frame[3], frame[4], frame[5], frame[6]), V(1, 1, 1));
}

function tetrahedron(points) {
  const p = [0, 1, 2, 3].map(k => vectorOf(points.slice(3 * k, 3 * k + 3))), position = [];
  const centre = p.reduce((s, q) => s.add(q), V(0, 0, 0)).multiplyScalar(0.25);
  for (const [a, b, c] of [[0, 1, 2], [0, 3, 1], [1, 3, 2], [0, 2, 3]]) {
    const n = p[b].clone().sub(p[a]).cross(p[c].clone().sub(p[a]));
    const outward = n.dot(p[a].clone().sub(centre)) > 0 ? [a, b, c] : [a, c, b];
    for (const k of outward) position.push(p[k].x, p[k].y, p[k].z);
  }
  const g = new THREE.BufferGeometry();
  g.setAttribute('position', new THREE.Float32BufferAttribute(position, 3));
  g.computeVertexNormals();
  return g;
}

// The triangles of a shape that is a mesh, scaled; vertices are shared where triangles meet at less than 35 degrees.
function meshOf(shape) {
  if (shape.triangles) return shape.triangles;
  const v = decode(shape.data.v, Float32Array), index = decode(shape.data.i, Uint32Array), [a, b, c] = shape.size;
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let k = 0; k < v.length; k++) {
    v[k] *= shape.size[k % 3];
    low[k % 3] = Math.min(low[k % 3], v[k]); high[k % 3] = Math.max(high[k % 3], v[k]);
  }
  if (a * b * c < 0) for (let t = 0; t < index.length; t += 3) [index[t + 1], index[t + 2]] = [index[t + 2], index[t + 1]]; // a mirror image
  return shape.triangles = { v, index, low, high };
}
function meshGeometry(shape) {
  const { v, index } = meshOf(shape), count = index.length / 3, face = new Float64Array(3 * count), first = new Uint32Array(v.length / 3 + 2);
  for (let t = 0; t < count; t++) {
    const [i, j, k] = [3 * index[3 * t], 3 * index[3 * t + 1], 3 * index[3 * t + 2]];
    const p = [v[j] - v[i], v[j + 1] - v[i + 1], v[j + 2] - v[i + 2]], q = [v[k] - v[i], v[k + 1] - v[i + 1], v[k + 2] - v[i + 2]];
    for (let d = 0; d < 3; d++) face[3 * t + d] = p[(d + 1) % 3] * q[(d + 2) % 3] - p[(d + 2) % 3] * q[(d + 1) % 3];
  }
  for (const i of index) first[i + 2]++;
  for (let i = 1; i + 1 < first.length; i++) first[i + 1] += first[i];
  const around = new Uint32Array(index.length); // the triangles at each vertex
  index.forEach((i, k) => { around[first[i + 1]++] = Math.floor(k / 3); });
  const position = new Float32Array(3 * index.length), normal = new Float32Array(3 * index.length);
  index.forEach((i, k) => {
    const t = 3 * Math.floor(k / 3), n = [face[t], face[t + 1], face[t + 2]], own = [...n], length = Math.hypot(...own);
    if (first[i + 1] - first[i] <= 64) for (let m = first[i]; m < first[i + 1]; m++) {
      const o = 3 * around[m], dot = own[0] * face[o] + own[1] * face[o + 1] + own[2] * face[o + 2];
      if (o !== t && dot > 0.81915 * length * Math.hypot(face[o], face[o + 1], face[o + 2])) for (let d = 0; d < 3; d++) n[d] += face[o + d];
    }
    const l = Math.hypot(...n) || 1;
    for (let d = 0; d < 3; d++) { position[3 * k + d] = v[3 * i + d]; normal[3 * k + d] = n[d] / l; }
  });
  const g = new THREE.BufferGeometry();
  g.setAttribute('position', new THREE.BufferAttribute(position, 3));
  g.setAttribute('normal', new THREE.BufferAttribute(normal, 3));
  return g;
}

// Points on a shape's hull, to frame it, and the point of the shape that is nearest to p.
function hullOf(shape) {
  if (shape.kind === 'rod' || shape.kind === 'tetrahedron')
    return [0, 1, 2, 3].slice(0, shape.kind === 'rod' ? 2 : 4).map(k => shape.points.slice(3 * k, 3 * k + 3));
  const [a, b, c] = shape.size, place = frameMatrix([...shape.position, ...shape.rotation]);
  if (shape.kind === 'mesh') {
    const { low, high } = meshOf(shape), corners = [];
    for (const x of [low, high]) for (const y of [low, high]) for (const z of [low, high]) corners.push(V(x[0], y[1], z[2]).applyMatrix4(place).toArray());
    return corners;
  }
  const half = { box: [a / 2, b / 2, c / 2], cylinder: [a, a, b / 2], sphere: [a, a, a], cone: [a, a, b / 2], capsule: [a, a, a + b / 2], ellipsoid: [a, b, c] }[shape.kind];
  const lift = shape.kind === 'cone' ? b / 2 : 0, out = [];
  for (const x of [-1, 1]) for (const y of [-1, 1]) for (const z of [-1, 1])
    out.push(V(x * half[0], y * half[1], z * half[2] + lift).applyMatrix4(place).toArray());
  return out;
}
function nearestOnShape(shape, p) {
  const v = vectorOf(p);
  if (shape.kind === 'rod')
    return new THREE.Line3(vectorOf(shape.points), vectorOf(shape.points.slice(3, 6))).closestPointToPoint(v, true, V(0, 0, 0));
  if (shape.kind === 'tetrahedron') {
    let inside = true;
    const q = [0, 1, 2, 3].map(k => vectorOf(shape.points.slice(3 * k, 3 * k + 3))), best = { d: Infinity, at: q[0] };
    for (const [a, b, c, o] of [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]]) {
      const triangle = new THREE.Triangle(q[a], q[b], q[c]), at = triangle.closestPointToPoint(v, V(0, 0, 0)), d = at.distanceTo(v);
      const plane = triangle.getPlane(new THREE.Plane());
      if (plane.distanceToPoint(v) * plane.distanceToPoint(q[o]) < 0) inside = false;
      if (d < best.d) { best.d = d; best.at = at; }
    }
    return inside ? v : best.at;
  }
  const place = frameMatrix([...shape.position, ...shape.rotation]), back = new THREE.Matrix4().getInverse(place);
  const [a, b, c] = shape.size, x = v.clone().applyMatrix4(back);
  if (shape.kind === 'sphere') return x.clampLength(0, a).applyMatrix4(place);
  if (shape.kind === 'ellipsoid') return x.divide(V(a || 1, b || 1, c || 1)).clampLength(0, 1).multiply(V(a, b, c)).applyMatrix4(place);
  if (shape.kind === 'mesh') return x.clamp(V(...meshOf(shape).low), V(...meshOf(shape).high)).applyMatrix4(place);
  if (shape.kind === 'capsule') {
    const core = V(0, 0, Math.min(b / 2, Math.max(-b / 2, x.z)));
    return x.sub(core).clampLength(0, a).add(core).applyMatrix4(place);
  }
  if (shape.kind === 'box') return x.clamp(V(-a / 2, -b / 2, -c / 2), V(a / 2, b / 2, c / 2)).applyMatrix4(place);
  const low = shape.kind === 'cone' ? 0 : -b / 2, r = Math.hypot(x.x, x.y) || 1, keep = Math.min(1, a / r);
  x.x *= keep; x.y *= keep; x.z = Math.min(low + b, Math.max(low, x.z));
  return x.applyMatrix4(place);
}

// The same of several shapes.
function nearestOnShapes(shapes, p) {
  const at = vectorOf(p);
  return shapes.map(shape => nearestOnShape(shape, p)).reduce((best, q) => q.distanceTo(at) < best.distanceTo(at) ? q : best);
}

function addShape(parts, shape, paint, unit) {
  const colour = shape.colour || paint;
  const place = frameMatrix([...shape.position, ...shape.rotation]), [a, b, c] = shape.size;
  const upright = new THREE.Matrix4().makeRotationX(Math.PI / 2); // three.js has y as the axis of round shapes
  switch (shape.kind) {
    case 'box': parts.add(new THREE.BoxBufferGeometry(a, b, c), place, colour); break;
    case 'cylinder': parts.add(new THREE.CylinderBufferGeometry(a, a, b, 48), place.multiply(upright), colour); break;
    case 'sphere': parts.add(new THREE.SphereBufferGeometry(a, 40, 26), place, colour); break;
    case 'cone':
      parts.add(new THREE.ConeBufferGeometry(a, b, 48), place.multiply(upright).multiply(new THREE.Matrix4().makeTranslation(0, b / 2, 0)), colour);
      break;
    case 'rod': parts.bar(vectorOf(shape.points), vectorOf(shape.points.slice(3, 6)), Math.max(a, 0.3 * unit), colour, true); break;
    case 'ellipsoid': parts.add(new THREE.SphereBufferGeometry(1, 40, 26), place.multiply(new THREE.Matrix4().makeScale(a || 1e-4 * unit, b || 1e-4 * unit, c || 1e-4 * unit)), colour); break;
    case 'capsule': parts.bar(V(0, 0, -b / 2).applyMatrix4(place), V(0, 0, b / 2).applyMatrix4(place), a || 0.1 * unit, colour, true); break;
    case 'mesh': parts.add(meshGeometry(shape), place, colour); break;
    case 'tetrahedron': parts.add(tetrahedron(shape.points), new THREE.Matrix4(), colour); break;
  }
}

// A plate over three points.
function addPlate(parts, p, thickness, colour) {
  const n = p[1].clone().sub(p[0]).cross(p[2].clone().sub(p[0]));
  if (n.length() < 1e-9 * p[1].distanceTo(p[0]) * p[2].distanceTo(p[0])) return;
  n.setLength(thickness / 2);
  const position = [], put = (...q) => { for (const v of q) position.push(v.x, v.y, v.z); };
  const up = p.map(v => v.clone().add(n)), down = p.map(v => v.clone().sub(n));
  put(up[0], up[1], up[2], down[0], down[2], down[1]);
  for (let k = 0; k < 3; k++) {
    const m = (k + 1) % 3;
    put(down[k], down[m], up[m], down[k], up[m], up[k]);
  }
  const g = new THREE.BufferGeometry();
  g.setAttribute('position', new THREE.Float32BufferAttribute(position, 3));
  g.computeVertexNormals();
  parts.add(g, new THREE.Matrix4(), colour);
}

function apart(points, least) {
  const kept = [];
  for (const p of points) if (!kept.some(q => q.distanceTo(p) < least)) kept.push(p);
  return kept;
}

// Principal moments and axes of a symmetric matrix xx, yy, zz, xy, xz, yz, by Jacobi's rotations.
function principal(J) {
  const a = [[J[0], J[3], J[4]], [J[3], J[1], J[5]], [J[4], J[5], J[2]]], v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 12; sweep++)
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(a[p][q]) < 1e-14 * (Math.abs(a[p][p]) + Math.abs(a[q][q]))) continue;
      const angle = 0.5 * Math.atan2(2 * a[p][q], a[q][q] - a[p][p]), c = Math.cos(angle), s = Math.sin(angle);
      for (let k = 0; k < 3; k++) { const x = a[k][p], y = a[k][q]; a[k][p] = c * x - s * y; a[k][q] = s * x + c * y; }
      for (let k = 0; k < 3; k++) { const x = a[p][k], y = a[q][k]; a[p][k] = c * x - s * y; a[q][k] = s * x + c * y; }
      for (let k = 0; k < 3; k++) { const x = v[k][p], y = v[k][q]; v[k][p] = c * x - s * y; v[k][q] = s * x + c * y; }
    }
  return { moments: [a[0][0], a[1][1], a[2][2]], axes: [0, 1, 2].map(k => V(v[0][k], v[1][k], v[2][k])) };
}

// The homogeneous box with the mass and the inertia of a body: its lengths and placement; null if there is none.
function inertiaBox(body, most) {
  if (!body.inertia || !(body.mass > 0)) return null;
  const { moments, axes } = principal(body.inertia), sum = moments[0] + moments[1] + moments[2];
  const lengths = moments.map(I => Math.sqrt(Math.max(0, 6 * (sum - 2 * I) / body.mass))), largest = Math.max(...lengths);
  if (!(largest > 0) || largest > most) return null;
  if (axes[0].clone().cross(axes[1]).dot(axes[2]) < 0) axes[2].negate();
  const place = new THREE.Matrix4().makeBasis(...axes).setPosition(vectorOf(body.com));
  return { lengths: lengths.map(l => Math.max(l, 0.04 * largest)), place };
}

// A body without a shape: a bar between two joints, a plate between three, bars from their middle between more; and a ball at
// the centre of mass whose volume goes with the mass.
function addLinks(parts, body, attached, colour, unit, heaviest, size) {
  const joints = apart(attached.map(vectorOf), 0.05 * unit), com = vectorOf(body.com), r = 0.42 * unit;
  if (joints.length === 2) parts.bar(joints[0], joints[1], r, colour, true);
  else if (joints.length === 3) {
    for (let k = 0; k < 3; k++) parts.bar(joints[k], joints[(k + 1) % 3], 0.8 * r, colour, true);
    addPlate(parts, joints, 0.5 * r, colour);
  } else if (joints.length > 3) {
    const middle = joints.reduce((s, p) => s.add(p), V(0, 0, 0)).multiplyScalar(1 / joints.length);
    for (const p of joints) parts.bar(middle, p, r, colour, true);
  }
  let nearest = null;
  if (joints.length === 1) nearest = joints[0];
  else if (joints.length === 2) nearest = new THREE.Line3(joints[0], joints[1]).closestPointToPoint(com, true, V(0, 0, 0));
  else if (joints.length > 3) nearest = joints.reduce((s, p) => s.add(p.clone()), V(0, 0, 0)).multiplyScalar(1 / joints.length);
  if (nearest && nearest.distanceTo(com) > 0.3 * unit && body.mass > 0) parts.bar(nearest, com, 0.55 * r, colour, true);
  const box = joints.length < 2 ? inertiaBox(body, 0.9 * size) : null; // shows how it turns, which a ball does not
  if (box) parts.add(new THREE.BoxBufferGeometry(...box.lengths), box.place, colour);
  else if (body.mass > 0 && heaviest > 0) parts.ball(com, unit * (0.65 + 1.1 * Math.cbrt(body.mass / heaviest)), colour);
  else if (joints.length < 2) parts.ball(com, 0.5 * unit, colour);
}

function bodyGeometry(body, attached, colour, unit, heaviest, size) {
  const parts = new Parts();
  if (body.shapes) {
    for (const shape of body.shapes) addShape(parts, shape, colour, unit);
    for (const p of attached) {
      const near = nearestOnShapes(body.shapes, p);
      if (near.distanceTo(vectorOf(p)) > 0.4 * unit) parts.bar(near, vectorOf(p), 0.3 * unit, colour, true);
    }
  } else addLinks(parts, body, attached, colour, unit, heaviest, size);
  return parts.empty ? null : parts.geometry();
}

// A tube through points whose first part can be drawn alone: six indices for each side of each piece.
function tube(points, radius, sides = 6) {
  const position = [], normal = [], index = [], before = V(0, 0, 0);
  const u = V(0, 0, 0), w = V(0, 0, 0), tangent = V(0, 0, 0);
  points.forEach((p, k) => {
    tangent.copy(points[Math.min(points.length - 1, k + 1)]).sub(points[Math.max(0, k - 1)]);
    if (tangent.lengthSq() < 1e-24) tangent.copy(before.lengthSq() ? before : V(1, 0, 0));
    tangent.normalize(); before.copy(tangent);
    if (k === 0) u.copy(Math.abs(tangent.x) < 0.8 ? V(1, 0, 0) : V(0, 1, 0));
    u.addScaledVector(tangent, -u.dot(tangent));
    if (u.lengthSq() < 1e-12) u.copy(Math.abs(tangent.x) < 0.8 ? V(1, 0, 0) : V(0, 1, 0)).addScaledVector(tangent, -u.dot(tangent));
    u.normalize(); w.crossVectors(tangent, u);
    for (let s = 0; s < sides; s++) {
      const c = Math.cos(2 * Math.PI * s / sides), d = Math.sin(2 * Math.PI * s / sides);
      const n = [u.x * c + w.x * d, u.y * c + w.y * d, u.z * c + w.z * d];
      position.push(p.x + radius * n[0], p.y + radius * n[1], p.z + radius * n[2]);
      normal.push(...n);
    }
    if (k > 0) for (let s = 0; s < sides; s++) {
      const a = (k - 1) * sides + s, b = (k - 1) * sides + (s + 1) % sides;
      index.push(a, b, b + sides, a, b + sides, a + sides);
    }
  });
  const g = new THREE.BufferGeometry();
  g.setAttribute('position', new THREE.Float32BufferAttribute(position, 3));
  g.setAttribute('normal', new THREE.Float32BufferAttribute(normal, 3));
  g.setIndex(index);
  return g;
}
