/**
 * Ends with 0 when this container's process is ready: database, Temporal, worker and broker answer.
 * Workers have no API, but every role serves health on METRICS_PORT.
 */
/* global fetch, AbortSignal */
const port = process.env.METRICS_PORT ?? process.env.PORT ?? '3000';
try {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`, {
    signal: AbortSignal.timeout(4_000),
  });
  process.stdout.write(`${await response.text()}\n`);
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  process.stdout.write(`${error}\n`);
  process.exitCode = 1;
}
