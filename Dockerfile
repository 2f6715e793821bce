# syntax=docker/dockerfile:1
ARG NODE_IMAGE=node:24-bookworm-slim

# The dashboard and the documentation site, which the server has at /app and /docs. Needs the packages of development.
FROM ${NODE_IMAGE} AS site
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY contract/package.json contract/
COPY server/package.json server/
COPY tracker/package.json tracker/
COPY dashboard/package.json dashboard/
RUN npm ci --ignore-scripts --loglevel=error
COPY . .
RUN npm run dashboard && npm run docs

# What the server needs to run, and nothing else.
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY contract/package.json contract/
COPY server/package.json server/
COPY tracker/package.json tracker/
COPY dashboard/package.json dashboard/
RUN npm ci --omit=dev --omit=optional --ignore-scripts --loglevel=error

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Tributary" \
  org.opencontainers.image.description="Link attribution that anyone can run" \
  org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
  NODE_OPTIONS="--max-semi-space-size=16 --max-old-space-size=512" \
  MALLOC_ARENA_MAX=2 \
  MALLOC_TRIM_THRESHOLD_=131072 \
  HOST=0.0.0.0 \
  SPOOL_DIRECTORY=/var/lib/tributary/spool
WORKDIR /app
RUN mkdir -p /var/lib/tributary/spool \
  && chown -R node:node /var/lib/tributary \
  && ln -s /app/server/src/main.ts /usr/local/bin/tributary
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE ./
COPY contract contract
COPY tracker tracker
COPY server server
# `tributary sizing` calculates from what the benches measured.
COPY bench/figures.json bench/
COPY --from=packages /app/server/node_modules server/node_modules
COPY --from=site /app/dashboard/dist dashboard/dist
COPY --from=site /app/docs/dist docs/dist
USER node
VOLUME /var/lib/tributary
EXPOSE 3000 3001 3002
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OPS_PORT || 3002}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/server/src/main.ts"]
CMD ["serve"]
