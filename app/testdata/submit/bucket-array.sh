#!/bin/bash
# Made by nero submit slurm. A task is a block of shards; one that is run again skips what is kept.
#SBATCH --job-name=nero-run-01234567
#SBATCH --array=0,2-3
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output='/runs/a 100%% run.slurm/%a.txt'
#SBATCH --cpus-per-task=1
/opt/nero shard 's3://team/a 100% run' --block 3 --workers 1
code=$?
[ "$code" = 0 ] && exit 0
[ "$code" = 2 ] && exit 2 # it would fail again: study, model, data
if [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$code"
