/* dart.cpp - DART in the comparison: Skeleton::computeForwardDynamics and computeInverseDynamics.
 *
 * Revolute and free joints. DART's free joint has the rotation vector before the position as coordinates and
 * the body's twist in its own axes as speeds.
 */
#include "engine.h"

#include <vector>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/math/Geometry.hpp>
#include <dart/config.hpp>

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using Eigen::VectorXd;

struct engine {
    const bench_model *model;
    const bench_states *states;
    dart::dynamics::SkeletonPtr skeleton;
    std::vector<int> place; /* per body: where its speeds start in DART */
    std::vector<VectorXd> q, v, tau, vdot;
    VectorXd vdot_out, tau_out;
};

namespace {

Vector3d vector(const double *x) { return Vector3d(x[0], x[1], x[2]); }

Matrix3d rotation(const double *q) { return Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix(); }

const char *version() { return DART_VERSION; }

engine *open_engine(const bench_model *model, const bench_states *states, const char **reason) {
    using namespace dart::dynamics;
    if (model->closure_count) {
        *reason = "loop constraints act by impulses over a time step";
        return nullptr;
    }
    for (int i = 1; i <= model->count; i++) {
        lw_joint_type type = model->bodies[i].type;
        if (type != LW_JOINT_REVOLUTE && type != LW_JOINT_FREE) {
            *reason = "no cylindrical joint";
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
    e->skeleton = Skeleton::create(model->name);
    e->skeleton->setGravity(Vector3d(0, 0, BENCH_GRAVITY));
    std::vector<BodyNode *> nodes(1, nullptr);
    e->place.push_back(0);
    for (int i = 1; i <= model->count; i++) {
        const bench_body &body = model->bodies[i];
        BodyNode::Properties properties;
        properties.mName = "b" + std::to_string(i);
        properties.mInertia =
            Inertia(body.mass, vector(body.com), Matrix3d(vector(body.inertia).asDiagonal()));
        Eigen::Isometry3d point = Eigen::Isometry3d::Identity();
        point.translation() = vector(body.point);
        BodyNode *parent = nodes[body.parent], *node;
        if (body.type == LW_JOINT_FREE) {
            FreeJoint::Properties joint;
            joint.mName = "j" + std::to_string(i);
            joint.mT_ParentBodyToJoint = point;
            node = e->skeleton->createJointAndBodyNodePair<FreeJoint>(parent, joint, properties).second;
        } else {
            RevoluteJoint::Properties joint;
            joint.mName = "j" + std::to_string(i);
            joint.mT_ParentBodyToJoint = point;
            joint.mAxis = vector(body.axes[0]);
            node = e->skeleton->createJointAndBodyNodePair<RevoluteJoint>(parent, joint, properties).second;
        }
        nodes.push_back(node);
        e->place.push_back((int)node->getParentJoint()->getIndexInSkeleton(0));
    }
    int nv = model->v_size;
    for (int s = 0; s < states->count; s++) {
        const double *q = states->q + (size_t)s * model->q_size, *v = states->v + (size_t)s * nv;
        const double *tau = states->tau + (size_t)s * nv, *vdot = states->vdot + (size_t)s * nv;
        VectorXd dq(nv), dv(nv), dtau(nv), dvdot(nv);
        for (int i = 1; i <= model->count; i++) {
            const bench_body &body = model->bodies[i];
            int k = e->place[i];
            if (body.type == LW_JOINT_FREE) {
                Matrix3d R = rotation(q + body.q + 3);
                Vector3d w = vector(v + body.v + 3), u = R.transpose() * vector(v + body.v);
                dq.segment<3>(k) = dart::math::logMap(R);
                dq.segment<3>(k + 3) = vector(q + body.q);
                dv.segment<3>(k) = w;
                dv.segment<3>(k + 3) = u;
                dtau.segment<3>(k) = vector(tau + body.v + 3);
                dtau.segment<3>(k + 3) = R.transpose() * vector(tau + body.v);
                dvdot.segment<3>(k) = vector(vdot + body.v + 3);
                dvdot.segment<3>(k + 3) = R.transpose() * vector(vdot + body.v) - w.cross(u);
            } else {
                dq[k] = q[body.q];
                dv[k] = v[body.v];
                dtau[k] = tau[body.v];
                dvdot[k] = vdot[body.v];
            }
        }
        e->q.push_back(dq);
        e->v.push_back(dv);
        e->tau.push_back(dtau);
        e->vdot.push_back(dvdot);
    }
    return e;
}

void close_engine(engine *e) { delete e; }

double forward(engine *e, int state) {
    e->skeleton->setPositions(e->q[state]);
    e->skeleton->setVelocities(e->v[state]);
    e->skeleton->setForces(e->tau[state]);
    e->skeleton->computeForwardDynamics();
    e->vdot_out = e->skeleton->getAccelerations();
    return e->vdot_out[e->vdot_out.size() - 1];
}

double inverse(engine *e, int state) {
    e->skeleton->setPositions(e->q[state]);
    e->skeleton->setVelocities(e->v[state]);
    e->skeleton->setAccelerations(e->vdot[state]);
    e->skeleton->computeInverseDynamics();
    e->tau_out = e->skeleton->getForces();
    return e->tau_out[0];
}

/* Speeds-like vector in DART's order and axes into ours: accelerations (with the transport term) or forces.
 */
void back(engine *e, int state, const VectorXd &from, bool accelerations, double *to) {
    const double *q = e->states->q + (size_t)state * e->model->q_size;
    const double *v = e->states->v + (size_t)state * e->model->v_size;
    for (int i = 1; i <= e->model->count; i++) {
        const bench_body &body = e->model->bodies[i];
        int k = e->place[i];
        if (body.type == LW_JOINT_FREE) {
            Matrix3d R = rotation(q + body.q + 3);
            Vector3d w = vector(v + body.v + 3), u = R.transpose() * vector(v + body.v);
            Vector3d linear = from.segment<3>(k + 3);
            if (accelerations) linear += w.cross(u);
            linear = R * linear;
            for (int c = 0; c < 3; c++) {
                to[body.v + c] = linear[c];
                to[body.v + 3 + c] = from[k + c];
            }
        } else {
            to[body.v] = from[k];
        }
    }
}

void get_vdot(engine *e, int state, double *vdot) { back(e, state, e->vdot_out, true, vdot); }

void get_tau(engine *e, int state, double *tau) { back(e, state, e->tau_out, false, tau); }

} // namespace

const engine_kind engine_dart = {"DART",  version, open_engine, close_engine,
                                 forward, inverse, get_vdot,    get_tau};
