import type { WaitingPartition } from '../messages/broker.js';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Histogram buckets in seconds: for work of milliseconds, and for work that waits. */
const quick = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const slow = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

/** How full the pool of connections to the database is. */
export interface PoolState {
  readonly used: number;
  readonly free: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

/** The pools of a process by the cell that they lead to. */
export type PoolStates = ReadonlyMap<string, PoolState>;

function addPoolGauge(registry: Registry, pools: () => PoolStates): void {
  const connections = new Gauge({
    name: 'durabill_database_pool_connections',
    help: 'Connections to a cell by state: used, free, or waited for by a request',
    labelNames: ['state', 'cell'],
    registers: [registry],
    collect() {
      for (const [cell, state] of pools()) {
        for (const [name, count] of Object.entries(state)) {
          connections.set({ state: name, cell }, Number(count));
        }
      }
    },
  });
}

/** The lag that the usage consumer of this process saw last; it polls at least every second. */
function addLagGauge(registry: Registry) {
  let seen: readonly WaitingPartition[] = [];
  const lag = new Gauge({
    name: 'durabill_usage_lag_events',
    help:
      'Accepted usage events of all tenants that nobody has rated yet, by partition, as this ' +
      'worker sees them: all with PostgreSQL as broker, its share with Kafka',
    labelNames: ['partition'],
    registers: [registry],
    collect() {
      lag.reset();
      for (const { partition, offset, end } of seen) lag.inc({ partition }, end - offset);
    },
  });
  const byCell = new Gauge({
    name: 'durabill_usage_lag_cell_events',
    help: 'The same by the cell that the tenants are in; without values where there is one cell',
    labelNames: ['cell'],
    registers: [registry],
    collect() {
      byCell.reset();
      for (const { cell, offset, end } of seen) {
        if (cell !== undefined) byCell.inc({ cell }, end - offset);
      }
    },
  });
  return (waiting: readonly WaitingPartition[]): void => {
    seen = waiting;
  };
}

/** Counts valid requests that were refused, by reason. */
const refusalCounter = (registry: Registry) =>
  new Counter({
    name: 'durabill_refusals_total',
    help:
      'Requests that were refused because somebody takes more than a share: of a tenant (share, ' +
      'admission), of an address (address), of the process (connections)',
    labelNames: ['reason'],
    registers: [registry],
  });

/** Usage that cannot be rated: events, and ranges of the log, permanently or for now. */
const usageMetrics = (registry: Registry) => ({
  usageRejected: new Counter({
    name: 'durabill_usage_rejected_events_total',
    help: 'Rejected usage events by reason code',
    labelNames: ['reason'],
    registers: [registry],
  }),
  usageFailedRanges: new Counter({
    name: 'durabill_usage_failed_ranges_total',
    help: 'Ranges of the usage log that can never be rated: lost, and recorded as failed',
    registers: [registry],
  }),
  usageResting: new Gauge({
    name: 'durabill_usage_resting_partitions',
    help: 'Partitions of tenants whose rating failed, and which are tried again later',
    registers: [registry],
  }),
});

/**
 * What this process counts for Prometheus. No label holds a tenant, an account or an id: every label
 * has few values, known beforehand (docs/decisions/0140).
 */
export type Metrics = ReturnType<typeof openMetrics>;

/** `pools` is called when the metrics are read. */
export function openMetrics(pools: () => PoolStates) {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Counter<L>({ name: `durabill_${name}`, help, labelNames, registers });
  const histogram = <L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: L[] = [],
  ) => new Histogram<L>({ name: `durabill_${name}`, help, buckets, labelNames, registers });
  addPoolGauge(registry, pools);
  return {
    registry,
    showWaiting: addLagGauge(registry),
    httpRequests: counter('http_requests_total', 'Requests by operation and status', [
      'operation',
      'status',
    ]),
    refusals: refusalCounter(registry),
    httpSeconds: histogram('http_request_seconds', 'Time to the answer, by operation', quick, [
      'operation',
    ]),
    ingestAccepted: counter(
      'ingest_accepted_events_total',
      'Usage events that were published: durable, and answered with topic, partition and offset',
    ),
    usageRated: counter('usage_rated_events_total', 'Usage events that were rated'),
    usageDuplicates: counter('usage_duplicate_events_total', 'Repeats of usage events'),
    ...usageMetrics(registry),
    ratingSeconds: histogram(
      'usage_rating_seconds',
      'Time of a workflow step that rates a stretch of the usage log',
      slow,
    ),
    workflowStarts: counter(
      'workflow_starts_total',
      'Workflows that this process started, and whether its own worker took them with the start',
      ['workflow', 'eager'],
    ),
    conditionFaults: counter(
      'workflow_condition_faults_total',
      'Events for which a condition of a workflow could not be evaluated: it failed, or its cost',
      ['reason'],
    ),
    flowSeconds: histogram('flow_seconds', 'Time until a caller has the end of its flow', slow, [
      'flow',
    ]),
    flows: counter('flows_total', 'Flows that callers waited for, by outcome', ['flow', 'outcome']),
    webhookAttempts: counter('webhook_attempts_total', 'Attempts to deliver webhooks by outcome', [
      'outcome',
    ]),
    webhookSeconds: histogram('webhook_attempt_seconds', 'Time of an attempt to deliver', slow),
    ...billingMetrics(registry),
    ...retentionMetrics(registry),
    ...partitionMetrics(registry),
  };
}

/** How facts of usage are divided by month, and archived. */
const partitionMetrics = (registry: Registry) => ({
  usagePartitions: new Gauge({
    name: 'durabill_usage_partitions',
    help: 'Partitions of usage events that hold rows, by cell',
    labelNames: ['cell'],
    registers: [registry],
  }),
  usagePartitionsAhead: new Gauge({
    name: 'durabill_usage_partitions_ahead_seconds',
    help: 'For how long from now on partitions are made, by cell; they are made three months ahead',
    labelNames: ['cell'],
    registers: [registry],
  }),
  usagePartitionAge: new Gauge({
    name: 'durabill_usage_partition_age_seconds',
    help: 'Since when nothing arrives any more in the oldest partition that holds rows, by cell',
    labelNames: ['cell'],
    registers: [registry],
  }),
  archiveMonths: new Gauge({
    name: 'durabill_archive_months',
    help: 'Months of tenants in the archive by state: writing, complete, differs; by cell',
    labelNames: ['cell', 'state'],
    registers: [registry],
  }),
  archivedRows: new Counter({
    name: 'durabill_archived_rows_total',
    help: 'Rows of usage that were archived, or found archived, and compared',
    registers: [registry],
  }),
  archiveDroppedBytes: new Counter({
    name: 'durabill_archive_dropped_bytes_total',
    help: 'Bytes of disk that dropping archived months has given back',
    registers: [registry],
  }),
  archiveFailures: new Counter({
    name: 'durabill_archive_failures_total',
    help: 'Steps of archiving that failed, and are tried again: its place is full or away',
    registers: [registry],
  }),
  usagePartitionsLate: new Counter({
    name: 'durabill_usage_partitions_late_total',
    help: 'Partitions that rating had to make: the clock of the usage log is far from that of the database',
    registers: [registry],
  }),
});

/** What retention removes, and what keeps it from that. */
const retentionMetrics = (registry: Registry) => ({
  retentionRemoved: new Counter({
    name: 'durabill_retention_removed_rows_total',
    help: 'Messages, deliveries, executions, keys and audit entries that were removed as too old',
    labelNames: ['kind'],
    registers: [registry],
  }),
  retentionFailures: new Counter({
    name: 'durabill_retention_failures_total',
    help: 'Removals that failed, and are tried again within a minute',
    registers: [registry],
  }),
  retentionWaiting: new Gauge({
    name: 'durabill_retention_waiting',
    help: 'Kinds of data of tenants that were not looked through yet today; 0 soon after midnight UTC',
    registers: [registry],
  }),
  legalHolds: new Gauge({
    name: 'durabill_legal_holds',
    help: 'Tenants under a legal hold, of which nothing is removed',
    registers: [registry],
  }),
});

/** What billing runs and audits count. */
function billingMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Counter<L>({ name: `durabill_${name}`, help, labelNames, registers });
  return {
    billingAccountsDue: counter(
      'billing_accounts_due_total',
      'Accounts that billing runs began with; those that are done follow',
    ),
    billingAccountsDone: counter('billing_accounts_done_total', 'Accounts that are done'),
    billingInvoices: counter('billing_invoices_total', 'Invoices that billing runs made'),
    billingProblems: counter('billing_problems_total', 'Charges that could not be made, by code', [
      'code',
    ]),
    auditDifferences: counter(
      'audit_differences_total',
      'Recorded amounts and counters that audits found to differ from what they come to',
    ),
    billingBatchSeconds: new Histogram({
      name: 'durabill_billing_batch_seconds',
      help: 'Time of a transaction that bills some accounts',
      buckets: slow,
      registers,
    }),
  };
}
