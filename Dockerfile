# codenib for a repository that is mounted at /repository:
#   docker build -t codenib .
#   docker run --rm -v "$PWD:/repository:ro" -v codenib:/home/codenib/state codenib search "where are sessions saved"
# No secret goes in: .dockerignore lets the sources alone into the build. The command runs as a user without rights.
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
# What else to bring, e.g. --build-arg EXTRAS='[fleet,observe]'.
ARG EXTRAS=""
RUN pip install --no-cache-dir "$(echo /wheels/*.whl)${EXTRAS}" && rm -r /wheels
# The mounted repository belongs to somebody else, which git refuses unless it is told.
RUN git config --system --add safe.directory /repository \
    && git config --system --add safe.directory '/repositories/*' \
    && useradd --uid 10001 --create-home codenib \
    && install --directory --owner codenib --mode 700 /home/codenib/state
USER codenib
ENV CODENIB_HOME=/home/codenib/state
WORKDIR /repository
ENTRYPOINT ["codenib"]
