/* reader_bindings.c - records which values of a model come from parameters (model/spec/bindings.h).
 *
 * A value is read into an object that is added to the spec later. Until then its binding is kept with the
 * address of the value; when the object is added, the address becomes an offset in the object. Numbers from
 * which another value is computed, as the angles of a rotation, form one binding of that value.
 */
#include "io/model_read/reader.h"
#include "model/spec/spec_storage.h"

#include <stdint.h>
#include <string.h>

static bool has_letter(const char *text) {
    for (; *text; text++)
        if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_') return true;
    return false;
}

/* Does the text mention a parameter, or a table, whose points may depend on some? */
static bool mentions_parameter(const lw_reader *reader, const char *text) {
    size_t length;
    if (!has_letter(text)) return false;
    for (lw_name_scan scan = {text, 0, false}; (length = lw_next_name(&scan)) > 0; scan.at += length) {
        for (size_t k = 0; k < reader->table_count; k++)
            if (strncmp(reader->tables[k].name, text + scan.at, length) == 0 &&
                reader->tables[k].name[length] == '\0')
                return true;
        for (size_t k = 0; k < reader->parameter_count; k++)
            if (strncmp(reader->constants[k].name, text + scan.at, length) == 0 &&
                reader->constants[k].name[length] == '\0')
                return true;
    }
    return false;
}

static lw_waiting *add_waiting(lw_reader *reader) {
    if (reader->waiting_count == reader->waiting_capacity) {
        size_t capacity = 2 * reader->waiting_capacity + 32;
        lw_waiting *longer = LW_NEW(reader->arena, lw_waiting, capacity);
        if (!longer) {
            reader->out_of_memory = true;
            return NULL;
        }
        if (reader->waiting_count > 0)
            memcpy(longer, reader->waiting, reader->waiting_count * sizeof *longer);
        reader->waiting = longer;
        reader->waiting_capacity = capacity;
    }
    return &reader->waiting[reader->waiting_count++];
}

void lw_reader_bind(lw_reader *reader, const lw_yaml *node, const double *value) {
    if (!mentions_parameter(reader, node->text)) return;
    const char *text = reader->index_count > 0 ? lw_reader_without_indices(reader, node->text) : node->text;
    lw_waiting *w = text ? add_waiting(reader) : NULL;
    if (!w) return;
    *w = (lw_waiting){.binding = {.kind = LW_BIND_NUMBER, .place = node->place}, .results = value};
    w->operands[0] = (lw_operand){text, *value};
}

void lw_reader_unbind(lw_reader *reader, const double *value) {
    size_t left = 0;
    for (size_t k = 0; k < reader->waiting_count; k++)
        if (reader->waiting[k].results != value) reader->waiting[left++] = reader->waiting[k];
    reader->waiting_count = left;
}

void lw_reader_bind_rule(lw_reader *reader, const double *value, lw_binding_rule rule) {
    for (size_t k = 0; k < reader->waiting_count; k++)
        if (reader->waiting[k].results == value) reader->waiting[k].binding.rule = rule;
}

void lw_reader_bind_group(lw_reader *reader, size_t mark, lw_binding_kind kind, const double *operands,
                          const double *results) {
    lw_waiting group = {.binding = {.kind = kind}, .results = results};
    int count = lw_binding_operands(kind);
    size_t left = mark;
    bool any = false;
    for (int k = 0; k < count; k++) group.operands[k].value = operands[k];
    for (size_t i = mark; i < reader->waiting_count; i++) {
        const lw_waiting *w = &reader->waiting[i];
        int k = 0;
        while (k < count && w->results != &operands[k]) k++;
        if (k == count || w->binding.kind != LW_BIND_NUMBER) {
            reader->waiting[left++] = *w;
            continue;
        }
        group.operands[k] = w->operands[0];
        group.binding.place = w->binding.place;
        any = true;
    }
    reader->waiting_count = left;
    /* The mass of a shape depends also on the bindings before it. */
    if (!any && (kind != LW_BIND_SHAPE || left == mark)) return;
    lw_waiting *w = add_waiting(reader);
    if (w) *w = group;
}

void lw_reader_bind_keeps(lw_reader *reader, unsigned kept) {
    for (size_t k = 0; k < reader->waiting_count; k++)
        if (reader->waiting[k].binding.kind == LW_BIND_SHAPE) reader->waiting[k].binding.kept = kept;
}

void lw_reader_bind_structure(lw_reader *reader, const char *text, lw_place place, double value) {
    if (reader->muted || !mentions_parameter(reader, text)) return;
    const lw_binding binding = {.kind = LW_BIND_STRUCTURE, .owner = LW_OWNER_NONE, .place = place};
    const lw_operand operand = {reader->index_count > 0 ? lw_reader_without_indices(reader, text) : text,
                                value};
    if (operand.text) lw_reader_check(reader, lw_spec_bind(reader->spec, &binding, &operand));
}

void lw_reader_bound(lw_reader *reader, lw_binding_owner owner, size_t object, const void *start,
                     size_t size) {
    size_t left = 0;
    for (size_t k = 0; k < reader->waiting_count; k++) {
        lw_waiting *w = &reader->waiting[k];
        uintptr_t at = (uintptr_t)w->results, from = (uintptr_t)start;
        if (at < from || at >= from + size) {
            reader->waiting[left++] = *w;
            continue;
        }
        w->binding.owner = owner;
        w->binding.object = (int)object;
        w->binding.offset = (int)(at - from);
        int points;
        w->binding.table = lw_binding_column(reader->spec, owner, object, &points);
        lw_reader_check(reader, lw_spec_bind(reader->spec, &w->binding, w->operands));
    }
    reader->waiting_count = left;
}
