/* simbody.cpp - Simbody in the comparison: its O(n) operators on an unconstrained matter subsystem.
 *
 *   forward   state to Stage::Dynamics, calcAccelerationIgnoringConstraints
 *   inverse   state to Stage::Velocity, calcResidualForceIgnoringConstraints
 *
 * With closed loops, forward is state to Stage::Acceleration; a closure is a Constraint::Ball, three rows, where a hinge would
 * add rows that are redundant in the ladder.
 *
 * Weights are given to the operators as body forces. Simbody's joints have fixed axes in their frames (pin
 * and screw z, slider x, ...), its angular velocities are in the first body's axes, and angles come before
 * displacements; the conversions happen when the states are taken over.
 */
#include "engine.h"

#include <vector>
#include <Simbody.h>

using namespace SimTK;

struct engine {
    const bench_model *model;
    const bench_states *states;
    MultibodySystem system;
    SimbodyMatterSubsystem matter;
    std::vector<MobilizedBody> mobods;
    GeneralForceSubsystem general; /* with closed loops: weights, and the forces of the joints */
    Force::DiscreteForces discrete;
    State state;
    std::vector<int> q_place, v_place; /* per body: where its coordinates and speeds start in Simbody */
    std::vector<Vector> q, v, tau, vdot;
    std::vector<Vec3> weight;
    Vector_<SpatialVec> forces, accelerations;
    Vector vdot_out, tau_out;
    engine() : matter(system), general(system), discrete(general, matter) {}
};

namespace {

const double pi = 3.14159265358979323846;

Vec3 vec(const double *x) { return Vec3(x[0], x[1], x[2]); }

Rotation rotation(const double *q) { return Rotation(Quaternion(Vec4(q[0], q[1], q[2], q[3]))); }

const char *version() {
    static std::string text;
    int major, minor, build;
    SimTK_version_simbody(&major, &minor, &build);
    text = std::to_string(major) + "." + std::to_string(minor);
    return text.c_str();
}

/* Axes of the joint's frame in both bodies: Simbody's convention for the type of joint. */
Rotation frame(const bench_body &body) {
    UnitVec3 first(vec(body.axes[0]));
    switch (body.type) {
    case LW_JOINT_REVOLUTE:
    case LW_JOINT_SCREW:
    case LW_JOINT_CYLINDRICAL:
        return Rotation(first, ZAxis);
    case LW_JOINT_PRISMATIC:
        return Rotation(first, XAxis);
    case LW_JOINT_UNIVERSAL:
    case LW_JOINT_TRANSLATION:
        return Rotation(first, XAxis, vec(body.axes[1]), YAxis);
    case LW_JOINT_PLANAR:
        return Rotation(first, ZAxis, vec(body.axes[1]), XAxis);
    default:
        return Rotation();
    }
}

MobilizedBody attach(MobilizedBody &parent, const bench_body &body) {
    Vec3 com = vec(body.com), I = vec(body.inertia);
    Body::Rigid mass(MassProperties(body.mass, com, Inertia(I).shiftFromMassCenter(com, body.mass)));
    Transform F(frame(body), vec(body.point)), M(frame(body));
    switch (body.type) {
    case LW_JOINT_REVOLUTE:
        return MobilizedBody::Pin(parent, F, mass, M);
    case LW_JOINT_PRISMATIC:
        return MobilizedBody::Slider(parent, F, mass, M);
    case LW_JOINT_SCREW:
        return MobilizedBody::Screw(parent, F, mass, M, body.lead / (2 * pi));
    case LW_JOINT_CYLINDRICAL:
        return MobilizedBody::Cylinder(parent, F, mass, M);
    case LW_JOINT_UNIVERSAL:
        return MobilizedBody::Universal(parent, F, mass, M);
    case LW_JOINT_SPHERICAL:
        return MobilizedBody::Ball(parent, F, mass, M);
    case LW_JOINT_PLANAR:
        return MobilizedBody::Planar(parent, F, mass, M);
    case LW_JOINT_TRANSLATION:
        return MobilizedBody::Translation(parent, F, mass, M);
    case LW_JOINT_FREE:
        return MobilizedBody::Free(parent, F, mass, M);
    default:
        return MobilizedBody::Weld(parent, F, mass, M);
    }
}

/* Where speed k of ours stands among Simbody's. */
int speed(const bench_body &body, int k) {
    switch (body.type) {
    case LW_JOINT_CYLINDRICAL:
        return 1 - k; /* angle, displacement */
    case LW_JOINT_PLANAR:
        return (k + 1) % 3; /* angle, x, y */
    case LW_JOINT_FREE:
        return (k + 3) % 6; /* angular, linear */
    default:
        return k;
    }
}

/* Speeds, their rates or their forces into Simbody's order and axes, or back. All three turn alike: the rate
 * of R w is R wdot, as w x w = 0. */
void order_v(const engine *e, int state, const double *from, double *to, bool back) {
    const double *q = e->states->q + (size_t)state * e->model->q_size;
    for (int i = 1; i <= e->model->count; i++) {
        const bench_body &body = e->model->bodies[i];
        for (int k = 0; k < body.v_count; k++) {
            int ours = body.v + k, theirs = e->v_place[i] + speed(body, k);
            to[back ? ours : theirs] = from[back ? theirs : ours];
        }
        if (body.q_count == body.v_count) continue;
        double *w = to + (back ? body.v + body.v_count - 3 : e->v_place[i]);
        Rotation R = rotation(q + body.q + body.q_count - 4);
        Vec3 turned = back ? ~R * vec(w) : R * vec(w);
        for (int k = 0; k < 3; k++) w[k] = turned[k];
    }
}

engine *open_engine(const bench_model *model, const bench_states *states, const char **reason) {
    if (model->count > 1000) {
        *reason = "not tried";
        return nullptr;
    }
    engine *e = new engine;
    e->model = model;
    e->states = states;
    e->mobods.push_back(e->matter.updGround());
    for (int i = 1; i <= model->count; i++) {
        const bench_body &body = model->bodies[i];
        e->mobods.push_back(attach(e->mobods[body.parent], body));
    }
    for (int k = 0; k < model->closure_count; k++) {
        const bench_closure &closure = model->closures[k];
        Constraint::Ball(e->mobods[closure.bodies[0]], vec(closure.points[0]), e->mobods[closure.bodies[1]],
                         vec(closure.points[1]));
    }
    e->state = e->system.realizeTopology();
    e->system.realizeModel(e->state);
    e->q_place.push_back(0);
    e->v_place.push_back(0);
    e->weight.push_back(Vec3(0));
    for (int i = 1; i <= model->count; i++) {
        e->q_place.push_back(model->bodies[i].q_count ? (int)e->mobods[i].getFirstQIndex(e->state) : 0);
        e->v_place.push_back(model->bodies[i].v_count ? (int)e->mobods[i].getFirstUIndex(e->state) : 0);
        e->weight.push_back(Vec3(0, 0, BENCH_GRAVITY * model->bodies[i].mass));
    }
    int nv = model->v_size;
    for (int s = 0; s < states->count; s++) {
        const double *q = states->q + (size_t)s * model->q_size;
        Vector sq(e->state.getNQ(), 0.0), sv(nv), stau(nv), svdot(nv);
        for (int i = 1; i <= model->count; i++) {
            const bench_body &body = model->bodies[i];
            int quaternion = body.type == LW_JOINT_FREE ? 3 : 0; /* where ours starts; Simbody has it first */
            for (int k = 0; k < body.q_count; k++) {
                int theirs = body.q_count > body.v_count ? (k + body.q_count - quaternion) % body.q_count
                                                         : speed(body, k);
                sq[e->q_place[i] + theirs] = q[body.q + k];
            }
        }
        order_v(e, s, states->v + (size_t)s * nv, &sv[0], false);
        order_v(e, s, states->tau + (size_t)s * nv, &stau[0], false);
        order_v(e, s, states->vdot + (size_t)s * nv, &svdot[0], false);
        e->q.push_back(sq);
        e->v.push_back(sv);
        e->tau.push_back(stau);
        e->vdot.push_back(svdot);
    }
    e->forces.resize(model->count + 1);
    return e;
}

void close_engine(engine *e) { delete e; }

void give_state(engine *e, int state, const Stage &stage) {
    e->state.updQ() = e->q[state];
    e->state.updU() = e->v[state];
    e->system.realize(e->state, stage);
    e->forces = SpatialVec(Vec3(0), Vec3(0));
    for (int i = 1; i <= e->model->count; i++)
        e->matter.addInStationForce(e->state, e->mobods[i].getMobilizedBodyIndex(),
                                    vec(e->model->bodies[i].com), e->weight[i], e->forces);
}

double forward_closed(engine *e, int state) {
    give_state(e, state, Stage::Velocity);
    e->discrete.setAllBodyForces(e->state, e->forces);
    e->discrete.setAllMobilityForces(e->state, e->tau[state]);
    e->system.realize(e->state, Stage::Acceleration);
    e->vdot_out = e->state.getUDot();
    return e->vdot_out[e->model->v_size - 1];
}

double forward(engine *e, int state) {
    if (e->model->closure_count) return forward_closed(e, state);
    give_state(e, state, Stage::Dynamics);
    e->matter.calcAccelerationIgnoringConstraints(e->state, e->tau[state], e->forces, e->vdot_out,
                                                  e->accelerations);
    return e->vdot_out[e->model->v_size - 1];
}

double inverse(engine *e, int state) {
    give_state(e, state, Stage::Velocity);
    e->matter.calcResidualForceIgnoringConstraints(e->state, Vector(), e->forces, e->vdot[state], e->tau_out);
    return e->tau_out[0];
}

void get_vdot(engine *e, int state, double *vdot) { order_v(e, state, &e->vdot_out[0], vdot, true); }

void get_tau(engine *e, int state, double *tau) { order_v(e, state, &e->tau_out[0], tau, true); }

} // namespace

const engine_kind engine_simbody = {"Simbody", version, open_engine, close_engine,
                                    forward,   inverse, get_vdot,    get_tau};
