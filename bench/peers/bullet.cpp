/* bullet.cpp - Bullet's btMultiBody in the comparison, in double precision.
 *
 * computeAccelerationsArticulatedBodyAlgorithmMultiDof with time step 0 leaves velocities alone and the
 * accelerations in its scratch array. Weights are given to the links once: they stay until cleared. Revolute
 * joints, and a free base whose frame is at its centre of mass. No inverse dynamics in btMultiBody itself.
 */
#include "engine.h"

#include <memory>
#include <string>
#include <vector>
#include <BulletDynamics/Featherstone/btMultiBody.h>

struct engine {
    const bench_model *model;
    bool free_base;
    std::unique_ptr<btMultiBody> body;
    const bench_states *states;
    btAlignedObjectArray<btScalar> r;
    btAlignedObjectArray<btVector3> v;
    btAlignedObjectArray<btMatrix3x3> m;
    std::vector<btVector3> base_torque; /* in world axes, per state */
};

namespace {

btVector3 vector(const double *x) { return btVector3(x[0], x[1], x[2]); }

/* body to world; (w, x, y, z) */
btQuaternion quaternion(const double *q) { return btQuaternion(q[1], q[2], q[3], q[0]); }

const char *version() {
    static const std::string text =
        std::to_string(BT_BULLET_VERSION / 100) + "." + std::to_string(BT_BULLET_VERSION % 100);
    return text.c_str();
}

const double *at(const double *values, int size, int state) { return values + (size_t)state * size; }

engine *open_engine(const bench_model *model, const bench_states *states, const char **reason) {
    if (model->closure_count) {
        *reason = "loop constraints act by impulses over a time step";
        return nullptr;
    }
    bool free_base = model->bodies[1].type == LW_JOINT_FREE;
    for (int i = 1; i <= model->count; i++) {
        const bench_body &b = model->bodies[i];
        if (b.type != LW_JOINT_REVOLUTE && !(i == 1 && free_base)) {
            *reason = "no cylindrical, universal, screw joints";
            return nullptr;
        }
    }
    if (model->count > 1000) {
        *reason = "not tried";
        return nullptr;
    }
    engine *e = new engine;
    e->model = model;
    e->states = states;
    e->free_base = free_base;
    int links = model->count - free_base;
    const bench_body &base = model->bodies[1];
    e->body.reset(new btMultiBody(links, free_base ? base.mass : 0,
                                  free_base ? vector(base.inertia) : btVector3(0, 0, 0), !free_base, false));
    btVector3 gravity(0, 0, BENCH_GRAVITY);
    for (int k = 0; k < links; k++) {
        const bench_body &b = model->bodies[k + 1 + free_base];
        const bench_body &parent = model->bodies[b.parent];
        btVector3 parent_com = b.parent == 0 ? btVector3(0, 0, 0) : vector(parent.com);
        e->body->setupRevolute(k, b.mass, vector(b.inertia), b.parent - 1 - free_base,
                               btQuaternion::getIdentity(), vector(b.axes[0]), vector(b.point) - parent_com,
                               vector(b.com), true);
    }
    e->body->finalizeMultiDof();
    e->body->setLinearDamping(0);
    e->body->setAngularDamping(0);
    e->body->setUseGyroTerm(true);
    for (int k = 0; k < links; k++) e->body->addLinkForce(k, gravity * e->body->getLinkMass(k));
    if (free_base)
        for (int s = 0; s < states->count; s++) {
            const double *q = at(states->q, model->q_size, s), *tau = at(states->tau, model->v_size, s);
            e->base_torque.push_back(quatRotate(quaternion(q + 3), vector(tau + 3)));
        }
    return e;
}

void close_engine(engine *e) { delete e; }

double forward(engine *e, int state) {
    const bench_model *model = e->model;
    const double *q = at(e->states->q, model->q_size, state);
    const double *v = at(e->states->v, model->v_size, state);
    const double *tau = at(e->states->tau, model->v_size, state);
    btMultiBody *body = e->body.get();
    if (e->free_base) {
        btQuaternion turn = quaternion(q + 3);
        body->setBasePos(vector(q));
        body->setWorldToBaseRot(turn.inverse());
        body->setBaseVel(vector(v));
        body->setBaseOmega(quatRotate(turn, vector(v + 3)));
        btVector3 weight(0, 0, BENCH_GRAVITY * body->getBaseMass());
        body->addBaseForce(vector(tau) + weight - body->getBaseForce());
        body->addBaseTorque(e->base_torque[state] - body->getBaseTorque());
    }
    for (int k = 0; k < body->getNumLinks(); k++) {
        const bench_body &b = model->bodies[k + 1 + e->free_base];
        body->setJointPos(k, q[b.q]);
        body->setJointVel(k, v[b.v]);
        body->getLink(k).m_jointTorque[0] = tau[b.v];
    }
    body->computeAccelerationsArticulatedBodyAlgorithmMultiDof(0, e->r, e->v, e->m, false, false, false);
    return e->r[body->getNumDofs() + 6 + body->getNumDofs() - 1];
}

void get_vdot(engine *e, int state, double *vdot) {
    /* base (angular, linear; world axes), then the joints */
    const btScalar *result = &e->r[e->body->getNumDofs()];
    for (int k = 0; k < e->body->getNumLinks(); k++)
        vdot[e->model->bodies[k + 1 + e->free_base].v] = result[6 + k];
    if (!e->free_base) return;
    btQuaternion turn = quaternion(at(e->states->q, e->model->q_size, state) + 3);
    btVector3 angular = quatRotate(turn.inverse(), vector(result));
    for (int k = 0; k < 3; k++) {
        vdot[k] = result[3 + k];
        vdot[3 + k] = angular[k];
    }
}

} // namespace

const engine_kind engine_bullet = {"Bullet", version, open_engine, close_engine,
                                   forward,  nullptr, get_vdot,    nullptr};
