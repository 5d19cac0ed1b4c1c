FROM node:20.20-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY tsconfig.json ./
COPY migrations ./migrations
COPY src ./src
USER node
ENV DATA_DIR=/tmp/durabill
EXPOSE 3000
CMD ["node", "--max-semi-space-size=64", "--import=tsx", "src/cli/main.ts", "start"]
