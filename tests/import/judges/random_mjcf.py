#!/usr/bin/env python3
"""Random files of MJCF for judge_mjcf.py: units, Euler sequences, classes, frames, all joints, shapes, springs, tendons, actuators.

Call: random_mjcf.py FOLDER FIRST LAST, which writes FOLDER/random-SEED.xml for each seed and prints what to judge, FILE or FILE:KEY.
What MuJoCo has and Linkwork tells that it leaves out is not drawn: armature of balls on moving bodies, polynomial springs of balls.
"""
import os
import random
import sys

DEGREES = 57.29577951308232


class Drawer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.degrees = self.chance(0.5)
        self.joints, self.sites, self.bodies = [], ["wall"], []

    def chance(self, p):
        return self.random.random() < p

    def number(self, low=-1.0, high=1.0):
        return round(self.random.uniform(low, high), 4)

    def vector(self, size=1.0):
        return " ".join(str(self.number(-size, size)) for _ in range(3))

    def angle(self, size=1.0):
        return str(round(self.random.uniform(-size, size) * (DEGREES if self.degrees else 1), 4))

    def rotation(self):
        return self.random.choice([
            "", f' quat="{self.number(0.2)} {self.vector()}"', f' euler="{self.angle()} {self.angle()} {self.angle()}"',
            f' axisangle="{self.vector()} {self.angle(2)}"', f' zaxis="{self.vector()}"',
            f' xyaxes="1 {self.number()} {self.number()} {self.number()} 1 {self.number()}"'])

    def of_class(self):
        return self.random.choice(["", "", ' class="A"', ' class="B"'])

    def geom(self):
        kinds = {"box": 3, "sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3}
        kind = self.random.choice(sorted(kinds))
        mass = self.random.choice(["", f' mass="{self.number(0.2, 2)}"', f' density="{self.number(200, 2000)}"'])
        if kind != "sphere" and self.chance(0.3):
            size = " ".join(str(self.number(0.04, 0.1)) for _ in range(kinds[kind] - 1))
            return f'<geom type="{kind}" size="{size}" fromto="{self.vector(0.2)} {self.vector(0.4)}"{mass}/>\n'
        size = " ".join(str(self.number(0.04, 0.15)) for _ in range(kinds[kind]))
        return f'<geom{self.of_class()} type="{kind}" size="{size}" pos="{self.vector(0.2)}"{self.rotation()}{mass}/>\n'

    def joint(self, kind, on_ground):
        name = f"j{len(self.joints)}"
        self.joints.append((name, kind))
        text = f'<joint name="{name}" type="{kind}"{self.of_class()}'
        if kind in ("hinge", "slide"):
            place = (lambda: self.angle(0.4)) if kind == "hinge" else (lambda: self.number(-0.2, 0.2))
            text += f' axis="{self.vector()}"'
            text += f' ref="{place()}"' if self.chance(0.4) else ""
            text += f' springref="{place()}"' if self.chance(0.4) else ""
            text += ' range="-2 2"' if self.chance(0.3) else ""
            text += f' springdamper="{self.number(0.1, 0.5)} {self.number(0.3, 1.5)}"' if self.chance(0.2) else ""
            text += f' frictionloss="{self.number(0, 0.3)}"' if self.chance(0.3) else ""
        if kind != "free":
            text += f' pos="{self.vector(0.1)}"'
            text += f' stiffness="{self.number(0, 5)}"' if self.chance(0.3) else ""
            text += f' damping="{self.number(0, 1)}"' if self.chance(0.3) else ""
        return text + (' armature="0"' if kind == "ball" and not on_ground else "") + "/>\n"

    def body(self, depth):
        self.bodies.append(f"b{len(self.bodies)}")
        text = f'<body name="{self.bodies[-1]}" pos="{self.vector(0.5)}"{self.rotation()}'
        text += f' gravcomp="{self.number(0)}"' if self.chance(0.2) else ""
        text += f' childclass="{self.random.choice("AB")}">\n' if self.chance(0.3) else ">\n"
        if depth == 0 and self.chance(0.3):
            text += self.joint("free", True)
        else:
            for k in range(self.random.choice([0, 1, 1, 1, 2, 3] if depth else [1, 1, 2])):
                kind = self.random.choice(["hinge", "hinge", "slide", "hinge" if k else "ball"])
                text += self.joint(kind, depth == 0)
                if kind == "ball":
                    break
        text += "".join(self.geom() for _ in range(self.random.randint(1, 2)))
        pick = self.random.random()
        moments = " ".join(str(self.number(0.1, 0.15)) for _ in range(3))
        if pick < 0.2:
            products = " ".join(str(self.number(-0.02, 0.02)) for _ in range(3))
            text += f'<inertial pos="{self.vector(0.1)}" mass="{self.number(0.5, 2)}" fullinertia="{moments} {products}"/>\n'
        elif pick < 0.4:
            text += f'<inertial pos="{self.vector(0.1)}"{self.rotation()} mass="{self.number(0.5, 2)}" diaginertia="{moments}"/>\n'
        if self.chance(0.7):
            self.sites.append(f"s{len(self.sites)}")
            text += f'<site name="{self.sites[-1]}" pos="{self.vector(0.2)}"{self.rotation()}/>\n'
        for _ in range(self.random.choice([0, 1, 1, 2]) if depth < 3 and len(self.bodies) < 8 else 0):
            if self.chance(0.3):
                text += f'<frame pos="{self.vector(0.2)}"{self.rotation()}>\n{self.body(depth + 1)}</frame>\n'
            else:
                text += self.body(depth + 1)
        return text + "</body>\n"

    def tendons(self, single):
        text = ""
        if len(single) >= 2 and self.chance(0.5):
            text += (f'<fixed name="sum" stiffness="{self.number(0, 4)}" damping="{self.number(0)}"'
                     f' springlength="{self.number(-0.2, 0.1)} {self.number(0.1, 0.3)}">'
                     f'<joint joint="{single[0]}" coef="{self.number()}"/><joint joint="{single[-1]}" coef="{self.number()}"/></fixed>\n')
        if len(self.sites) >= 2 and self.chance(0.5):
            path = self.random.sample(self.sites, min(len(self.sites), self.random.randint(2, 3)))
            length = f' springlength="{self.number(0.1, 0.4)}"' if self.chance(0.5) else ""
            text += (f'<spatial name="path" stiffness="{self.number(1, 9)}" damping="{self.number(0)}"{length}>'
                     + "".join(f'<site site="{name}"/>' for name in path) + "</spatial>\n")
        return text

    def actuators(self, single, tendons):
        text, controls = "", []
        for k in range(self.random.randint(0, 4) if single else 0):
            common = f' name="u{k}" gear="{self.number(0.5, 3)}"' + self.random.choice(["", ' ctrlrange="-1 1"'])
            common += self.random.choice(["", "", ' forcerange="-0.8 0.8"', ' forcerange="-0.3 0.8"'])
            on = f' joint="{self.random.choice(single)}"'
            kind = self.random.choice(["motor", "position", "velocity", "general", "site", "tendon"])
            if kind == "tendon" and 'name="sum"' not in tendons:
                kind = "motor"
            if kind == "site":
                text += f'<general name="u{k}" site="{self.sites[-1]}" gear="{self.vector()} {self.vector()}" gainprm="{self.number()}"/>\n'
            elif kind == "tendon":
                text += f'<position{common} tendon="sum" kp="{self.number(0, 3)}"/>\n'
            elif kind == "position":
                damping = self.random.choice([f'kv="{self.number(0)}"', 'dampratio="0.7"'])
                text += f'<position{common}{on} kp="{self.number(0, 9)}" {damping}/>\n'
            elif kind == "velocity":
                text += f'<velocity{common}{on} kv="{self.number(0, 3)}"/>\n'
            elif kind == "general":
                text += (f'<general{common}{on} gaintype="affine" gainprm="{self.vector()}" biastype="affine"'
                         f' biasprm="{self.vector()}"/>\n')
            else:
                text += f"<motor{common}{on}/>\n"
            controls.append(str(self.number(-2, 2)))
        return text, controls

    def file(self, name):
        settings = self.random.choice(["", "", ' inertiafromgeom="true"', ' boundmass="0.05" boundinertia="0.002"', ' balanceinertia="true"'])
        world = "".join(self.body(0) for _ in range(self.random.randint(1, 2)))
        single = [joint for joint, kind in self.joints if kind in ("hinge", "slide")]
        tendons = self.tendons(single)
        actuators, controls = self.actuators(single, tendons)
        couple = ""
        if len(single) >= 2 and self.chance(0.3):
            couple = (f'<equality><joint joint1="{single[0]}" joint2="{single[1]}" polycoef="{self.number(-0.1, 0.1)} {self.number()}'
                      f' {self.number(-0.3, 0.3)} {self.number(-0.2, 0.2)} 0"/></equality>\n')
        key = f'<keyframe><key name="on" ctrl="{" ".join(controls)}"/></keyframe>\n' if controls else ""
        sequence = self.random.choice(["xyz", "XYZ", "zyx", "ZXZ", "zxY", "Xyx"])
        return (f'<mujoco model="{name}">\n<compiler angle="{"degree" if self.degrees else "radian"}" eulerseq="{sequence}"{settings}/>\n'
                f'<option gravity="{self.vector(10)}"/>\n<default><joint damping="{self.number(0)}" armature="{self.number(0, 0.2)}"/>'
                f'<geom density="{self.number(300, 1500)}"/><default class="A"><joint stiffness="{self.number(0, 3)}"'
                f' springref="{self.angle(0.5)}"/><geom group="1" type="box" size="0.1 0.06 0.04"/><default class="B">'
                '<joint axis="0 1 1" armature="0.05"/><geom type="sphere" size="0.07"/></default></default></default>\n'
                f'<worldbody>\n<site name="wall" pos="0.3 0.4 1"/>\n{world}</worldbody>\n<tendon>\n{tendons}</tendon>\n{couple}'
                f"<actuator>\n{actuators}</actuator>\n{key}</mujoco>\n"), bool(controls)


def main():
    folder, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    for seed in range(first, last):
        path = os.path.join(folder, f"random-{seed}.xml")
        text, key = Drawer(seed).file(f"random-{seed}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(path + (":on" if key else ""))


if __name__ == "__main__":
    main()
