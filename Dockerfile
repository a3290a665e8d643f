# The dashboard and the viewer of shared views, from the same wheel that `make wheel` builds.
#
#   docker build --tag crubric .
#   docker run --rm --network host --volume "$PWD:/data" crubric
#       the dashboard at http://localhost:8501, for this machine alone; the workspace is crubric.duckdb in this folder
#   docker run --rm --publish 8502:8502 --volume "$PWD/crubric-views:/data/crubric-views:ro" --env CRUBRIC_ROLE=viewer \
#     crubric viewer -- --server.address 0.0.0.0 --server.allowedHosts views.example.org
#       shared views for everybody who has a link

FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml requirements.txt README.md LICENSE CHANGELOG.md app.py ./
COPY .streamlit/config.toml .streamlit/
COPY pages pages
COPY crubric_core crubric_core
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 NUMBA_CACHE_DIR=/var/cache/crubric
COPY requirements.lock /tmp/
RUN python -m pip install --no-cache-dir --require-hashes --requirement /tmp/requirements.lock
COPY --from=build /wheels /tmp/wheels
RUN python -m pip install --no-cache-dir --no-deps /tmp/wheels/*.whl \
 && useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin crubric \
 && install --directory --owner crubric --mode 0750 /data \
 && python -c 'from crubric_core.analysis.compile_ahead import compile_ahead; compile_ahead()' \
 && chown --recursive crubric "$NUMBA_CACHE_DIR"
USER crubric
WORKDIR /data
EXPOSE 8501 8502
ENTRYPOINT ["crubric"]
CMD ["app"]
