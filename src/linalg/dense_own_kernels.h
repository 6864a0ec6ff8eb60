/* dense_own_kernels.h - the table of the dense routines of our own; compiled twice, by dense_own.c and
 * dense_own_avx2.c, which differ in the instructions that their compiler may use.
 */
#include "linalg/dense_cholesky_kernels.h"
#include "linalg/dense_indefinite_kernels.h"
#include "linalg/dense_product_kernels.h"
#include "linalg/dense_svd_kernels.h"

const lw_dense_routines OWN_ROUTINES = {
    .multiply = own_multiply,
    .times = own_times,
    .triangle = own_triangle,
    .cholesky = own_cholesky,
    .semidefinite = own_semidefinite,
    .indefinite = own_indefinite,
    .indefinite_solve = own_indefinite_solve,
    .qr = own_qr,
    .reflect = own_reflect,
    .svd = own_svd,
    .indefinite_work = own_indefinite_work,
    .qr_work = own_qr_work,
    .svd_work = own_svd_work,
};
