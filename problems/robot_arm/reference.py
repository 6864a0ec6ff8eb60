"""reference.py - the motion of the PUMA 560 in model.yaml by Lagrange's equations; it writes reference.csv.

M(q) = sum of m Jv'Jv + Jw'R I R'Jw over the links, with Jacobians from the modified Denavit-Hartenberg frames, and the rotors on
the diagonal; Christoffel's terms and the weights from derivatives by complex steps, which have no cancellation. Gragg, Bulirsch and
Stoer's extrapolation to the 14th order, with the instants located at which a motor reaches or leaves its limit or the elbow its stop.
"""
import math
import sys

import numpy as np

G = 9.81
ALPHA = [0, -math.pi / 2, 0, math.pi / 2, -math.pi / 2, math.pi / 2]
A = [0, 0, 0.4318, -0.0203, 0, 0]
D = [0, 0.2435, -0.0934, 0.4331, 0, 0]
MASS = [13, 17.4, 4.8, 0.82, 0.34, 0.09]
COM = np.array([[0, 0, 0], [0.068, 0.006, -0.016], [0, -0.070, 0.014], [0, 0, -0.019], [0, 0, 0], [0, 0, 0.032]])
INERTIA = [np.diag(d) for d in ([0.35] * 3, [0.13, 0.524, 0.539], [0.066, 0.02, 0.086], [1.8e-3, 1.8e-3, 1.3e-3],
                                [0.3e-3, 0.3e-3, 0.4e-3], [0.15e-3, 0.15e-3, 0.04e-3])]
ROTOR = np.diag([1.14, 4.71, 0.83, 0.2, 0.179, 0.193])
LIMIT = np.array([97.6, 186.4, 89.4, 24.2, 20.1, 21.3])
KP = np.array([150.0, 600, 200, 20, 20, 20])
KD = np.array([40.0, 120, 20, 3, 3, 3])
AIM = np.radians([60, -30, 240, 30, 60, -60])
STOP, STIFFNESS, DAMPING = math.radians(225), 2000, 10
START = np.radians([0.0, -90, 90, 0, 0, 0])


def frames(q):
    """Of several positions at a time, q[:, i]: rotations and origins of the links' frames."""
    n = len(q)
    R, p, out = np.tile(np.eye(3, dtype=complex), (n, 1, 1)), np.zeros((n, 3), dtype=complex), []
    for i in range(6):
        ca, sa, c, s = math.cos(ALPHA[i]), math.sin(ALPHA[i]), np.cos(q[:, i]), np.sin(q[:, i])
        p = p + R @ np.array([A[i], -sa * D[i], ca * D[i]])
        T = np.zeros((n, 3, 3), dtype=complex)
        T[:, 0, 0], T[:, 0, 1] = c, -s
        T[:, 1, 0], T[:, 1, 1], T[:, 1, 2] = s * ca, c * ca, -sa
        T[:, 2, 0], T[:, 2, 1], T[:, 2, 2] = s * sa, c * sa, ca
        R = R @ T
        out.append((R, p))
    return out


def mass_and_height(q):
    """The mass matrices of the links, without rotors, and the potential energies."""
    F, M, U = frames(q), np.zeros((len(q), 6, 6), dtype=complex), 0
    axes = np.stack([R[:, :, 2] for R, _ in F], axis=2)
    origins = np.stack([p for _, p in F], axis=2)
    for i, (R, p) in enumerate(F):
        centre = p + R @ COM[i]
        Jw = axes.copy()
        Jw[:, :, i + 1:] = 0
        Jv = np.cross(Jw, centre[:, :, None] - origins, axis=1)
        turned = R.transpose(0, 2, 1) @ Jw
        M += MASS[i] * Jv.transpose(0, 2, 1) @ Jv + turned.transpose(0, 2, 1) @ INERTIA[i] @ turned
        U = U + MASS[i] * G * centre[:, 2]
    return M, U


def equations(q, v):
    """M with rotors, and the terms of speeds and weights."""
    h = 1e-30
    M, U = mass_and_height(q + 1j * h * np.vstack([np.zeros(6), np.eye(6)]))
    dM, dU = M[1:].imag / h, U[1:].imag / h
    c = np.einsum('kij,j,k->i', dM, v, v) - 0.5 * np.einsum('ijk,j,k->i', dM, v, v)
    return M[0].real + ROTOR, c + dU


def mode_of(y):
    q, v = y[:6], y[6:]
    wanted = KP * (AIM - q) - KD * v
    e = q[2] - STOP
    return tuple(np.where(wanted > LIMIT, 1, np.where(wanted < -LIMIT, -1, 0))) + (
        (0 if e <= 0 else 1 if STIFFNESS * e + DAMPING * v[2] > 0 else 2),)


def rate(y, mode):
    q, v = y[:6], y[6:]
    held = np.array(mode[:6])
    tau = np.where(held == 0, KP * (AIM - q) - KD * v, held * LIMIT)
    if mode[6] == 1:
        tau[2] -= STIFFNESS * (q[2] - STOP) + DAMPING * v[2]
    M, c = equations(q, v)
    return np.concatenate([v, np.linalg.solve(M, tau - c)])


def step(y, H, mode):
    table, f0 = [], rate(y, mode)
    for j, n in enumerate((2, 4, 6, 8, 10, 12, 14)):
        h, before, now = H / n, y, y + H / n * f0
        for _ in range(n - 1):
            before, now = now, before + 2 * h * rate(now, mode)
        row = [0.5 * (now + before + h * rate(now, mode))]
        for k in range(1, j + 1):
            ratio = (n / (2, 4, 6, 8, 10, 12, 14)[j - k]) ** 2
            row.append(row[-1] + (row[-1] - table[-1][k - 1]) / (ratio - 1))
        table.append(row)
    return table[-1][-1]


def advance(y, span, mode):
    """Over a span, restarting where the mode changes. A change is found by halving the step;
    1e-11 s too late, it changes nothing but kinks by as much."""
    left = span
    while left > 1e-15:
        H, to = left, step(y, left, mode)
        if mode_of(to) == mode:
            return to, mode
        low, high = 0.0, H
        while high - low > 1e-11:
            middle = 0.5 * (low + high)
            if mode_of(step(y, middle, mode)) == mode:
                low = middle
            else:
                high = middle
        y = step(y, high, mode)
        left -= high
        mode = mode_of(y)
    return y, mode


def main(out):
    print("# t, angles of waist, shoulder, elbow, wrist, pitch, twist, their speeds: rad, rad/s. By reference.py", file=out)
    y = np.concatenate([START, np.zeros(6)])
    mode, H = mode_of(y), 0.01
    for k in range(101):
        if k % 5 == 0:
            print(",".join([f"{k * H:.4f}"] + [f"{x:.15g}" for x in y]), file=out)
        y, mode = advance(y, H, mode)


if __name__ == "__main__":
    main(sys.stdout)
