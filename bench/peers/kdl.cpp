/* kdl.cpp - Orocos KDL in the comparison: ChainFdSolver_RNE and ChainIdSolver_RNE, serial chains only.
 */
#include "engine.h"

#include <memory>
#include <vector>
#include <kdl/chain.hpp>
#include <kdl/chainfdsolver_recursive_newton_euler.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <kdl/config.h>

struct engine {
    KDL::Chain chain;
    std::unique_ptr<KDL::ChainFdSolver_RNE> fd;
    std::unique_ptr<KDL::ChainIdSolver_RNE> id;
    std::vector<KDL::JntArray> q, v, tau, vdot;
    KDL::JntArray vdot_out, tau_out;
    KDL::Wrenches no_wrenches;
};

namespace {

KDL::Vector vector(const double *x) { return KDL::Vector(x[0], x[1], x[2]); }

const char *version() { return KDL_VERSION_STRING; }

engine *open_engine(const bench_model *model, const bench_states *states, const char **reason) {
    for (int i = 1; i <= model->count; i++) {
        const bench_body &body = model->bodies[i];
        if (body.parent != i - 1 || body.type != LW_JOINT_REVOLUTE) {
            *reason = "serial chains only";
            return nullptr;
        }
    }
    if (model->count > 100) {
        *reason = "its mass matrix grows as N^2";
        return nullptr;
    }
    engine *e = new engine;
    for (int i = 1; i <= model->count; i++) {
        /* KDL sees a segment from its tip, where the next joint is */
        const bench_body &body = model->bodies[i];
        KDL::Vector tip = i < model->count ? vector(model->bodies[i + 1].point) : KDL::Vector::Zero();
        KDL::RotationalInertia inertia(body.inertia[0], body.inertia[1], body.inertia[2]);
        KDL::Joint joint(i == 1 ? vector(body.point) : KDL::Vector::Zero(), vector(body.axes[0]),
                         KDL::Joint::RotAxis);
        const double *axis = body.axes[0];
        if (i > 1 || vector(body.point).Norm() == 0) {
            if (axis[0] == 1) joint = KDL::Joint(KDL::Joint::RotX);
            if (axis[1] == 1) joint = KDL::Joint(KDL::Joint::RotY);
            if (axis[2] == 1) joint = KDL::Joint(KDL::Joint::RotZ);
        }
        e->chain.addSegment(KDL::Segment(joint, KDL::Frame(tip),
                                         KDL::RigidBodyInertia(body.mass, vector(body.com) - tip, inertia)));
    }
    KDL::Vector gravity(0, 0, BENCH_GRAVITY);
    e->fd.reset(new KDL::ChainFdSolver_RNE(e->chain, gravity));
    e->id.reset(new KDL::ChainIdSolver_RNE(e->chain, gravity));
    e->no_wrenches.assign(e->chain.getNrOfSegments(), KDL::Wrench::Zero());
    unsigned n = (unsigned)model->count;
    e->vdot_out.resize(n);
    e->tau_out.resize(n);
    auto take = [&](const double *from) {
        std::vector<KDL::JntArray> arrays;
        for (int s = 0; s < states->count; s++) {
            KDL::JntArray array(n);
            for (unsigned k = 0; k < n; k++) array(k) = from[(size_t)s * n + k];
            arrays.push_back(array);
        }
        return arrays;
    };
    e->q = take(states->q);
    e->v = take(states->v);
    e->tau = take(states->tau);
    e->vdot = take(states->vdot);
    return e;
}

void close_engine(engine *e) { delete e; }

double forward(engine *e, int state) {
    e->fd->CartToJnt(e->q[state], e->v[state], e->tau[state], e->no_wrenches, e->vdot_out);
    return e->vdot_out(e->vdot_out.rows() - 1);
}

double inverse(engine *e, int state) {
    e->id->CartToJnt(e->q[state], e->v[state], e->vdot[state], e->no_wrenches, e->tau_out);
    return e->tau_out(0);
}

void get_vdot(engine *e, int, double *vdot) {
    for (unsigned k = 0; k < e->vdot_out.rows(); k++) vdot[k] = e->vdot_out(k);
}

void get_tau(engine *e, int, double *tau) {
    for (unsigned k = 0; k < e->tau_out.rows(); k++) tau[k] = e->tau_out(k);
}

} // namespace

const engine_kind engine_kdl = {"KDL",   version, open_engine, close_engine,
                                forward, inverse, get_vdot,    get_tau};
