#!/usr/bin/env bash
# Forces that switch where nobody would see it: conditions narrower than a step, hits at high speed, functions of time that are no
# knots, and thousands of restarts. A point of 1 kg on a slide, whose motion is known in closed form; by every integrator, with the
# default tolerance. Each run is right, or doubtful with the reason.
source "$(dirname "$0")/support.sh" "$@"
ulimit -t 60

# slide FORCE SPEED END: a point at 0 with this speed.
slide() {
    cat >"$work/slide.yaml" <<YAML
linkwork: 1
name: slide
gravity: [0, 0, 0]
bodies: {a: {kind: point, mass: 1}}
joints: {A: {type: prismatic, between: [ground, a], axis: [1, 0, 0], v: $2}}
forces: {f: {type: drive, joint: A, force: "$1"}}
run: {end: $3}
YAML
}

# moves Q V: where it ends, by every integrator to 1e-6 of the larger of both; a doubtful one may be off, but not by auto.
moves() {
    for integrator in auto erk adams bdf ida; do
        expect 0 run "$work/slide.yaml" --integrator $integrator --json --output 0.5
        json "(lambda q, v, end: max(abs(end['q'][0] - q), abs(end['v'][0] - v)) < 1e-6*max(abs(q), abs(v)) if d['verdict']['ok'] else '$integrator' in ('adams', 'bdf') and 'not accounted' in d['verdict']['reasons'][0])($1, $2, d['final']['joints']['A'])"
    done
}

# --- conditions on the state that are narrower than a step: 10 N over 0.01 m, 1000 N over 0.1 mm, 1e7 N over 10 nm -------------
slide "if(q > 0.5 and q < 0.51, 10, 0)" 1 1
moves "0.51 + math.sqrt(1.2)*(0.5 - (math.sqrt(1.2) - 1)/10)" "math.sqrt(1.2)"
slide "if(q > 0.5 and q < 0.5001, 1000, 0)" 1 1
moves "0.5001 + math.sqrt(1.2)*(0.5 - (math.sqrt(1.2) - 1)/1000)" "math.sqrt(1.2)"
slide "if(q > 0.5 and q < 0.5 + 1e-8, 1e7, 0)" 1 1
moves "0.5 + 1e-8 + math.sqrt(1.2)*(0.5 - (math.sqrt(1.2) - 1)/1e7)" "math.sqrt(1.2)"

# --- a stiff contact hit at 100 m/s: half a vibration, and back -------------------------------------------------------------------
for k in 1e8 1e10; do
    for force in "if(q > 0.5, -$k*(q - 0.5), 0)" "-$k*ramp(q - 0.5)" "-$k*max(0, q - 0.5)"; do
        slide "$force" 100 1
        moves "0.5 - 100*(1 - 0.005 - math.pi/math.sqrt($k))" "-100"
    done
done

# --- functions of time that are no knots ---------------------------------------------------------------------------------------------
for w in 20 200 400 1000; do # a triangle of the speed: n whole halves of the period, and the rest
    slide "sign(sin($w*t))" 0 1
    moves "(lambda n, h: n*h*h/2 + (n % 2)*h*(1 - n*h) + (1 - 2*(n % 2))*(1 - n*h)**2/2)(int($w/math.pi), math.pi/$w)" \
        "(lambda n, h: (n % 2)*h + (1 - 2*(n % 2))*(1 - n*h))(int($w/math.pi), math.pi/$w)"
done
slide "if(t^2 > 2, 1, 0)" 0 2
moves "(2 - math.sqrt(2))**2/2" "2 - math.sqrt(2)"
slide "if(t^2 > 2 and t^2 < 2.001, 1000, 0)" 0 2
moves "(lambda w: 1000*(w*w/2 + w*(2 - math.sqrt(2.001))))(math.sqrt(2.001) - math.sqrt(2))" "1000*(math.sqrt(2.001) - math.sqrt(2))"

# --- nested mod, and pulses by the thousands -------------------------------------------------------------------------------------------
# pulses begin at these times and last w: each adds w to the speed, and w (end - begin - w/2) to the way
nested() { # PERIOD INNER WIDTH END
    slide "if(mod(mod(t, $1), $2) < $3, 1, 0)" 0 "$4"
    local starts="[k*$1 + j*$2 for k in range(round($4/$1)) for j in range(math.ceil($1/$2 - 1e-9))]"
    moves "sum($3*($4 - s - $3/2) for s in $starts)" "$3*len($starts)"
}
nested 1 0.3 0.1 5
nested 0.01 0.003 0.001 1
slide "if(mod(t, 1e-3) < 3e-4, 1, 0)" 0 10
moves "sum(3e-4*(10 - k*1e-3 - 1.5e-4) for k in range(10000))" "3"
