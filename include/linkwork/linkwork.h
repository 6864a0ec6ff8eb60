/* linkwork.h - everything public, in one include. */
#ifndef LINKWORK_LINKWORK_H
#define LINKWORK_LINKWORK_H

#include <linkwork/api.h>
#include <linkwork/version.h>
#include <linkwork/text.h>
#include <linkwork/status.h>
#include <linkwork/spec.h>
#include <linkwork/model.h>
#include <linkwork/optimise.h>
#include <linkwork/dynamics.h>
#include <linkwork/tree.h>
#include <linkwork/assemble.h>
#include <linkwork/criterion.h>
#include <linkwork/results.h>
#include <linkwork/simulate.h>
#include <linkwork/simulation.h>
#include <linkwork/rollout.h>
#include <linkwork/solver.h>
#include <linkwork/derivatives.h>
#include <linkwork/linearise.h>
#include <linkwork/equilibrium.h>
#include <linkwork/frequency.h>
#include <linkwork/inverse.h>
#include <linkwork/sensitivity.h>
#include <linkwork/solver_batch.h>
#include <linkwork/compare.h>
#include <linkwork/director.h>
#include <linkwork/massless.h>
#include <linkwork/neglect.h>
#include <linkwork/export.h>
#include <linkwork/import.h>
#include <linkwork/record.h>
#include <linkwork/io.h>
#include <linkwork/gltf.h>
#include <linkwork/fmu.h>
#include <linkwork/sweep.h>
#include <linkwork/view.h>

#endif
