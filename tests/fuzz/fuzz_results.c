/* fuzz_results - any bytes as the results.json of a task that is merged or of a run that is
 * finished: figures, or a sentence that names the file. */
#include "fuzz_file.h"
#include "train/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_run_result r;
    json_t *fresh = json_object();
    char path[128];
    fuzz_put("results.json", data, size);
    sb_mem_peak_reset();
    sb_status st = sb_results_read(fuzz_path("results.json", path), &r);
    assert(st == SB_OK || strstr(sb_message(), "results.json"));
    assert(st != SB_OK || r.members == 0 || r.member);
    assert(sb_mem_peak() <= FUZZ_FIXED_BYTES + FUZZ_FACTOR * size);
    sb_run_result_fini(&r);
    st = sb_results_keep(path, fresh);
    assert(st == SB_OK || strstr(sb_message(), "results.json"));
    json_decref(fresh);
    assert(sb_mem_live() == 0);
    return 0;
}
