#!/bin/bash
# Made by nero submit slurm: completes the run when all tasks are done.
#SBATCH --job-name=nero-run-01234567-merge
#SBATCH --open-mode=append
#SBATCH --output='/runs/a 100%% run.slurm/merge.txt'
#SBATCH --partition=short --comment 'it'\''s'
exec /opt/nero -q merge '/runs/a 100% run' --allow-program
