/* kept_spec.c - the spec that a compiled model keeps, so that parameters can change while it moves, and
 * results files carry the whole model.
 *
 * A model is constant and shared. A change of a parameter makes another model of the same layout: the spec is
 * read from its bytes, changed (spec/bindings.c) and compiled with the same cuts.
 *
 * Cost     the bytes of the spec, about 300 per body; compiling again takes as long as
 *          compiling.
 */
#include "model/kept_spec.h"
#include "core/checksum.h"
#include "model/variant.h"

lw_status lw_model_keep_spec(lw_model *model, const lw_spec *spec) {
    size_t size = 0;
    lw_status status = lw_spec_save(spec, NULL, 0, &size);
    if (status != LW_OK) return status;
    unsigned char *bytes = LW_NEW(model->arena, unsigned char, size);
    status = bytes ? lw_spec_save(spec, bytes, size, NULL) : LW_ERROR_MEMORY;
    if (status == LW_OK)
        model->kept = (lw_kept_spec){
            .bytes = bytes, .size = size, .fingerprint = lw_hash(LW_HASH_OF_NOTHING, bytes, size)};
    return status;
}

lw_status lw_model_kept_spec(const lw_model *model, lw_spec **spec, lw_error *error) {
    *spec = NULL;
    if (!model->kept.bytes)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, NULL, "the model keeps no spec");
    lw_status status = lw_spec_load(model->kept.bytes, model->kept.size, spec, error);
    if (status == LW_OK) lw_variant_cuts(model, (*spec)->joints);
    return status;
}

lw_status lw_model_compile_again(const lw_model *model, const lw_spec *spec, lw_model **again,
                                 lw_error *error) {
    *again = NULL;
    lw_report *report = lw_report_create();
    if (!report) return lw_out_of_memory(error);
    lw_status status = lw_compile_as_cut(spec, NULL, report, again);
    for (size_t k = 0; status != LW_OK && error && k < lw_report_size(report); k++)
        if (lw_report_get(report, k)->severity == LW_SEVERITY_ERROR) {
            *error = *lw_report_get(report, k);
            break;
        }
    lw_report_destroy(report);
    if (status != LW_OK) return status == LW_ERROR_MEMORY ? lw_out_of_memory(error) : status;
    if ((*again)->nq == model->nq && (*again)->nv == model->nv && lw_variant_same_tree(model, *again))
        return LW_OK;
    lw_model_destroy(*again);
    *again = NULL;
    return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "compile the changed spec, and start again",
                   "with this value the mechanism has another spanning tree");
}
