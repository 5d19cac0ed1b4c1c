import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { collectDefaultMetrics, Gauge } from 'prom-client';
import { countTenants } from '../../access/cells/tenant-cells.js';
import type { Platform } from '../../process/platform.js';
import { findProjectionLag } from '../../queries/usage/totals/projection-lag.js';
import { findWebhookBacklog } from '../../queries/webhooks/webhook.js';
import { answering, serve, type RunningApi } from '../main.js';
import { askCells, askParts, mountHealth } from '../pages/health.js';
import { securityHeaders } from '../guards/security-headers.js';

/** Timeout of a reading; Prometheus allows ten seconds for a scrape. */
const readMsMax = 2_000;

const soon = <T>(work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_resolve, reject) =>
      setTimeout(() => reject(new Error('No answer.')), readMsMax).unref(),
    ),
  ]);

interface SharedGauge {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  /** The values by their label. */
  readonly read: (platform: Platform) => Promise<ReadonlyMap<string, number>>;
}

/**
 * Gauges read from the database, and the health of the parts, when metrics are scraped. Every
 * process reports the same values, so a dashboard takes the maximum instead of the sum.
 */
const sharedGauges: readonly SharedGauge[] = [
  {
    name: 'webhook_backlog_deliveries',
    help: 'Deliveries of webhooks that have not ended, by status',
    label: 'status',
    async read({ database }) {
      const counts = new Map<string, number>();
      // Of the cells that answer: the others' share is missing until they do.
      const answers = await Promise.allSettled(
        database.cells.map(({ platform }) => soon(findWebhookBacklog(platform))),
      );
      for (const answer of answers) {
        if (answer.status === 'rejected') continue;
        for (const { status, count } of answer.value) {
          counts.set(status, (counts.get(status) ?? 0) + count);
        }
      }
      return counts;
    },
  },
  {
    name: 'projection_lag_seconds',
    help: 'How long the first of what waits to be added to totals and lists of usage has waited',
    label: 'projection',
    async read({ database }) {
      const answers = await Promise.allSettled(
        database.cells.map(({ platform }) => soon(findProjectionLag(platform))),
      );
      const most = new Map<string, number>();
      for (const answer of answers) {
        if (answer.status === 'rejected') continue;
        for (const { projection, seconds } of answer.value) {
          most.set(projection, Math.max(most.get(projection) ?? 0, seconds));
        }
      }
      return most;
    },
  },
  {
    name: 'part_up',
    help: 'Whether a part of the instance answers (1) or not (0)',
    label: 'part',
    async read(platform) {
      const parts = Object.entries(await askParts(platform));
      return new Map(parts.map(([part, isUp]) => [part, isUp ? 1 : 0]));
    },
  },
  {
    name: 'cell_up',
    help: 'Whether a PostgreSQL server that tenants are in answers (1) or not (0)',
    label: 'cell',
    async read(platform) {
      const [others, { database }] = await Promise.all([askCells(platform), askParts(platform)]);
      const all: [string, boolean][] = [[platform.database.home.name, database], ...others];
      return new Map(all.map(([cell, isUp]) => [cell, isUp ? 1 : 0]));
    },
  },
  {
    name: 'cell_tenants',
    help: 'Tenants by the cell that they are in',
    label: 'cell',
    async read({ database: { platform, home } }) {
      return countTenants(platform, home.name);
    },
  },
];

/** A source that fails leaves its gauge without values; the other gauges are not affected. */
function addSharedGauges(platform: Platform): void {
  for (const { name, help, label, read } of sharedGauges) {
    const gauge = new Gauge({
      name: `durabill_${name}`,
      help,
      labelNames: [label],
      registers: [platform.metrics.registry],
      async collect() {
        const values = await soon(read(platform)).catch(() => new Map<string, number>());
        gauge.reset();
        for (const [key, value] of values) gauge.set({ [label]: key }, value);
      },
    });
  }
}

/** The metrics of Temporal's SDK, as text; empty if they are not available. */
async function readSdkMetrics({ temporal: { metricsUrl } }: Platform): Promise<string> {
  if (metricsUrl === null) return '';
  const read = fetch(metricsUrl).then((response) => response.text());
  return soon(read).catch(() => '');
}

function operatorApp(platform: Platform): Koa {
  const { registry } = platform.metrics;
  const app = new Koa();
  const router = new Router();
  mountHealth(router, platform);
  router.get('/metrics', async (ctx: Context) => {
    const [own, ofSdk] = await Promise.all([registry.metrics(), readSdkMetrics(platform)]);
    ctx.set('Content-Type', registry.contentType);
    ctx.body = ofSdk === '' ? own : `${own}${ofSdk}`;
  });
  const headers = securityHeaders(platform.config.publicUrl);
  app.use(async (ctx, next) => {
    ctx.set(headers);
    await next();
  });
  app.use(router.routes());
  app.on('error', (error: unknown) => platform.log.error({ err: error }, 'metrics failed'));
  return app;
}

/**
 * Serves metrics and health to operators, on a separate address: they are about all tenants, and
 * need no token (docs/decisions/0140). Rejects with EADDRINUSE when the port is taken.
 */
export async function startOperator(
  platform: Platform,
  address: { readonly host: string; readonly port: number },
): Promise<RunningApi> {
  collectDefaultMetrics({ register: platform.metrics.registry });
  addSharedGauges(platform);
  const handle = answering(operatorApp(platform).callback(), platform.log);
  return serve(address, platform.log, (server) => {
    server.on('request', handle);
  });
}
