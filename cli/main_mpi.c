/* main_mpi.c - the program linkwork-mpi: linkwork, with sweeps on the ranks of MPI.
 *
 * Every rank reads the model and the call; rank 0 alone speaks.
 */
#include "cli.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, level; /* Rank 0 may have a thread that computes; it makes no call of MPI. */
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return CLI_FAILED;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0 && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
        return CLI_FAILED;
    int result = CLI_WRONG;
    if (argc > 1 && strcmp(argv[1], "sweep") != 0 && argv[1][0] != '-')
        (void)cli_say(NULL, CLI_WRONG, "linkwork-mpi is for sweeps; linkwork %s needs no MPI", argv[1]);
    else
        result = cli_main(argc, argv);
    MPI_Finalize();
    return result;
}
