// sdf_poses.cc - where libsdformat says that links, frames and joints of an SDF are, as tests/import/sdf/poses.txt has them.
//
// Call: sdf_poses FILE...; for each file "> NAME", and for each object a line:
//   link NAME x y z qw qx qy qz, frame NAME ..., joint NAME x y z ax ay az [bx by bz]: all in the world, or in that of a model.
#include <cmath>
#include <cstdio>
#include <sdf/sdf.hh>
#include <string>

static const double nothing = std::nan("");

static void put(const char *kind, const std::string &name, const ignition::math::Pose3d &p) {
    std::printf("%s %s %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", kind, name.c_str(), p.X(), p.Y(), p.Z(), p.Rot().W(),
                p.Rot().X(), p.Rot().Y(), p.Rot().Z());
}

static bool good(const sdf::Errors &errors) {
    for (const auto &error : errors) std::fprintf(stderr, "%s\n", error.Message().c_str());
    return errors.empty();
}

// A model at a pose, with what stands in it.
static bool put_model(const sdf::Model &model, const ignition::math::Pose3d &at, const std::string &prefix) {
    bool fine = true;
    for (uint64_t k = 0; k < model.LinkCount(); k++) {
        ignition::math::Pose3d p;
        const auto *link = model.LinkByIndex(k);
        fine = good(link->SemanticPose().Resolve(p, "__model__")) && fine;
        put("link", prefix + link->Name(), at * p);
    }
    for (uint64_t k = 0; k < model.FrameCount(); k++) {
        ignition::math::Pose3d p;
        const auto *frame = model.FrameByIndex(k);
        if (frame->Name().compare(0, 2, "__") == 0 || frame->Name().compare(0, 8, "_merged_") == 0) continue;
        fine = good(frame->SemanticPose().Resolve(p, "__model__")) && fine;
        put("frame", prefix + frame->Name(), at * p);
    }
    for (uint64_t k = 0; k < model.JointCount(); k++) {
        ignition::math::Pose3d p;
        const auto *joint = model.JointByIndex(k);
        fine = good(joint->SemanticPose().Resolve(p, "__model__")) && fine;
        const auto whole = at * p;
        std::printf("joint %s %.17g %.17g %.17g", (prefix + joint->Name()).c_str(), whole.X(), whole.Y(), whole.Z());
        for (unsigned int a = 0; a < 2; a++) {
            ignition::math::Vector3d axis(nothing, nothing, nothing);
            if (!joint->Axis(a)) continue;
            fine = good(joint->Axis(a)->ResolveXyz(axis, "__model__")) && fine;
            axis = at.Rot().RotateVector(axis);
            std::printf(" %.17g %.17g %.17g", axis.X(), axis.Y(), axis.Z());
        }
        std::printf("\n");
    }
    for (uint64_t k = 0; k < model.ModelCount(); k++) {
        ignition::math::Pose3d p;
        const auto *inner = model.ModelByIndex(k);
        fine = good(inner->SemanticPose().Resolve(p, "__model__")) && fine;
        fine = put_model(*inner, at * p, prefix + inner->Name() + "::") && fine;
    }
    return fine;
}

int main(int argc, char **argv) {
    bool fine = true;
    for (int k = 1; k < argc; k++) {
        const std::string path = argv[k];
        const auto slash = path.rfind('/');
        const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
        sdf::ParserConfig config;
        config.SetFindCallback([&](const std::string &uri) { return folder + "/" + uri; });
        sdf::Root root;
        fine = good(root.Load(path, config)) && fine;
        std::printf("> %s\n", slash == std::string::npos ? path.c_str() : path.c_str() + slash + 1);
        if (root.WorldCount() > 0) {
            const auto *world = root.WorldByIndex(0);
            for (uint64_t m = 0; m < world->ModelCount(); m++) {
                ignition::math::Pose3d p;
                const auto *model = world->ModelByIndex(m);
                fine = good(model->SemanticPose().Resolve(p, "world")) && fine;
                fine = put_model(*model, p, model->Name() + "::") && fine;
            }
        } else if (const auto *model = root.Model()) {
            ignition::math::Pose3d p;
            fine = good(model->SemanticPose().Resolve(p)) && fine;
            fine = put_model(*model, p, model->Name() + "::") && fine;
        }
    }
    return fine ? 0 : 1;
}
