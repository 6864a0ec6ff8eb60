/* hdf5_library.h - HDF5 for the files that call it, and where its functions come from.
 *
 * Debian's HDF5 brings libcurl, Kerberos, LDAP and TLS along, 33 shared objects and nearly all of the start
 * of the program linkwork, though few calls ever touch a .h5 file. So it is loaded when one is written or
 * read: hdf5_loaded.c fills the table below, and the names of the functions stand for its members, so that
 * code reads as HDF5's manual writes it. Where nothing can be loaded, as in a program that is linked
 * statically, or where a package has to name all its libraries, as a Python wheel, -DLINKWORK_LINK_HDF5=ON
 * links it: then this header is HDF5's own.
 *
 * The table is filled once and for all threads. It says no more than where in this process HDF5 lies, which
 * has global data of its own. A library that was loaded stays until the process ends, since HDF5 closes its
 * files then.
 */
#ifndef LW_HDF5_LIBRARY_H
#define LW_HDF5_LIBRARY_H

#include <hdf5.h>

#include <stdbool.h>
#include <stddef.h>

/* Must succeed before the first call of HDF5; false with the reason in `why` if it is not there. */
bool lw_hdf5_open(char *why, size_t size);

#ifndef LW_LINK_HDF5

typedef struct lw_hdf5_library {
#define FUNCTION(name) __typeof__(name) *name;
#define NUMBER(name) const hid_t *name;
#include "io/results/hdf5_names.inc"
#undef FUNCTION
#undef NUMBER
} lw_hdf5_library;

extern lw_hdf5_library lw_hdf5;

/* From here on a name of HDF5 is that of the table, which is to hdf5_loaded.c a member still. */
#ifndef LW_HDF5_TABLE_ONLY
#define H5open lw_hdf5.H5open
#define H5check_version lw_hdf5.H5check_version
#define H5free_memory lw_hdf5.H5free_memory
#define H5Aclose lw_hdf5.H5Aclose
#define H5Acreate2 lw_hdf5.H5Acreate2
#define H5Aexists lw_hdf5.H5Aexists
#define H5Aexists_by_name lw_hdf5.H5Aexists_by_name
#define H5Aget_space lw_hdf5.H5Aget_space
#define H5Aget_type lw_hdf5.H5Aget_type
#define H5Aopen lw_hdf5.H5Aopen
#define H5Aopen_by_name lw_hdf5.H5Aopen_by_name
#define H5Aread lw_hdf5.H5Aread
#define H5Awrite lw_hdf5.H5Awrite
#define H5Dclose lw_hdf5.H5Dclose
#define H5Dcreate2 lw_hdf5.H5Dcreate2
#define H5Dcreate_anon lw_hdf5.H5Dcreate_anon
#define H5Dget_space lw_hdf5.H5Dget_space
#define H5Dget_type lw_hdf5.H5Dget_type
#define H5Dopen2 lw_hdf5.H5Dopen2
#define H5Dread lw_hdf5.H5Dread
#define H5Dset_extent lw_hdf5.H5Dset_extent
#define H5Dwrite lw_hdf5.H5Dwrite
#define H5Eget_auto2 lw_hdf5.H5Eget_auto2
#define H5Eset_auto2 lw_hdf5.H5Eset_auto2
#define H5Ewalk2 lw_hdf5.H5Ewalk2
#define H5Fclose lw_hdf5.H5Fclose
#define H5Fcreate lw_hdf5.H5Fcreate
#define H5Fflush lw_hdf5.H5Fflush
#define H5Fopen lw_hdf5.H5Fopen
#define H5Gclose lw_hdf5.H5Gclose
#define H5Gcreate2 lw_hdf5.H5Gcreate2
#define H5Lexists lw_hdf5.H5Lexists
#define H5Pclose lw_hdf5.H5Pclose
#define H5Pcreate lw_hdf5.H5Pcreate
#define H5Pset_alloc_time lw_hdf5.H5Pset_alloc_time
#define H5Pset_chunk lw_hdf5.H5Pset_chunk
#define H5Pset_file_locking lw_hdf5.H5Pset_file_locking
#define H5Pset_fill_time lw_hdf5.H5Pset_fill_time
#define H5Pset_fill_value lw_hdf5.H5Pset_fill_value
#define H5Pset_istore_k lw_hdf5.H5Pset_istore_k
#define H5Pset_layout lw_hdf5.H5Pset_layout
#define H5Pset_obj_track_times lw_hdf5.H5Pset_obj_track_times
#define H5Pset_sieve_buf_size lw_hdf5.H5Pset_sieve_buf_size
#define H5Pset_small_data_block_size lw_hdf5.H5Pset_small_data_block_size
#define H5Sclose lw_hdf5.H5Sclose
#define H5Screate lw_hdf5.H5Screate
#define H5Screate_simple lw_hdf5.H5Screate_simple
#define H5Sget_simple_extent_dims lw_hdf5.H5Sget_simple_extent_dims
#define H5Sget_simple_extent_ndims lw_hdf5.H5Sget_simple_extent_ndims
#define H5Sget_simple_extent_npoints lw_hdf5.H5Sget_simple_extent_npoints
#define H5Sselect_hyperslab lw_hdf5.H5Sselect_hyperslab
#define H5Tclose lw_hdf5.H5Tclose
#define H5Tcopy lw_hdf5.H5Tcopy
#define H5Tget_class lw_hdf5.H5Tget_class
#define H5Tget_cset lw_hdf5.H5Tget_cset
#define H5Tget_size lw_hdf5.H5Tget_size
#define H5Tis_variable_str lw_hdf5.H5Tis_variable_str
#define H5Tset_cset lw_hdf5.H5Tset_cset
#define H5Tset_size lw_hdf5.H5Tset_size
#define H5P_CLS_DATASET_CREATE_ID_g (*lw_hdf5.H5P_CLS_DATASET_CREATE_ID_g)
#define H5P_CLS_FILE_ACCESS_ID_g (*lw_hdf5.H5P_CLS_FILE_ACCESS_ID_g)
#define H5P_CLS_FILE_CREATE_ID_g (*lw_hdf5.H5P_CLS_FILE_CREATE_ID_g)
#define H5T_C_S1_g (*lw_hdf5.H5T_C_S1_g)
#define H5T_IEEE_F64LE_g (*lw_hdf5.H5T_IEEE_F64LE_g)
#define H5T_NATIVE_DOUBLE_g (*lw_hdf5.H5T_NATIVE_DOUBLE_g)
#define H5T_NATIVE_LONG_g (*lw_hdf5.H5T_NATIVE_LONG_g)
#define H5T_NATIVE_UCHAR_g (*lw_hdf5.H5T_NATIVE_UCHAR_g)
#define H5T_STD_I64LE_g (*lw_hdf5.H5T_STD_I64LE_g)
#define H5T_STD_U8LE_g (*lw_hdf5.H5T_STD_U8LE_g)
#endif
#endif

#endif
