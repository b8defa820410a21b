#!/bin/bash
# Made by nero submit slurm: completes the run when all tasks are done.
#SBATCH --job-name=nero-run-01234567-merge
#SBATCH --open-mode=append
#SBATCH --output='/runs/a 100%% run.slurm/merge.txt'
exec /opt/nero -q merge 's3://team/a 100% run' -o '/home/me/a 100% run' --push
