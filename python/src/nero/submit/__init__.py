"""The shards of a planned run on engines that run elsewhere: `python -m nero.submit dask|ray ADDRESS RUN`, and `local RUN` for processes of this machine.

Nothing of an engine is imported before it is asked for: pip install "nero-ml[dask]" or "nero-ml[ray]" installs one.
"""
