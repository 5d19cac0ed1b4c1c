import type { Knex } from 'knex';
import { newId } from '../../kernel/id.js';
import { Decimal, decimalText, sum, ZERO } from '../../kernel/numbers/money.js';
import { eachInPortions } from '../../kernel/portions.js';
import { within, type Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { Period } from '../../kernel/time/period.js';
import { insertAlertTriggers } from '../../models/balances/alert-trigger.js';
import { Alert, AlertFigure, noAccount, type Figure } from '../../models/balances/alert.js';
import { RecurringCharge } from '../../models/billing/recurring-charge.js';
import { isOfEach, periodAt } from '../../queries/balances/alert.js';
import { listUsageTotals } from '../../queries/usage/totals/usage-total.js';
import { recordWebhookEvents } from '../webhooks/webhook-event.js';
import { startNamedWorkflows } from '../workflows/trigger.js';

/** A charge as the figures of alerts count it. */
export interface CountedCharge {
  readonly date: string;
  readonly accountId: string;
  readonly contractId: string | null;
  readonly serviceId: string;
  readonly currency: string;
  readonly usageType: string;
  readonly amount: Decimal;
  readonly volumes: readonly { readonly attributeName: string; readonly volume: Decimal }[];
}

/** A charge of usage as its row says it; written out, because this is done for every charge. */
export const countedCharge = (
  row: Omit<CountedCharge, 'date' | 'volumes'> & { readonly transactionDate: string },
  volumes: CountedCharge['volumes'],
): CountedCharge => ({
  date: row.transactionDate,
  accountId: row.accountId,
  contractId: row.contractId,
  serviceId: row.serviceId,
  currency: row.currency,
  usageType: row.usageType,
  amount: row.amount,
  volumes,
});

/** What a figure moves by. */
interface Movement {
  readonly alert: Alert;
  readonly thresholds: readonly Decimal[];
  readonly accountId: string;
  readonly currency: string;
  readonly period: Period;
  readonly delta: Decimal;
}

/**
 * Moves the figures of alerts by charges and says what they trigger, in the transaction that makes the
 * charges (spec/beyond.md R276). One statement where the tenant has no alerts.
 */
export async function countCharges(
  trx: Knex.Transaction,
  scope: Scope,
  charges: readonly CountedCharge[],
): Promise<void> {
  if (charges.length === 0) return;
  const { tenantId, now } = scope;
  const alerts = await Alert.onCharges(trx, tenantId);
  if (alerts.length === 0) return;
  const today = utcDate(now());
  const movements = await movementsOf(alerts, today, charges);
  if (movements.size === 0) return;
  const figures = await AlertFigure.move(
    trx,
    tenantId,
    [...movements.values()].map(changeOf),
    'add',
  );
  const triggered: Triggered[] = [];
  for (const figure of figures) {
    const movement = movements.get(keyOf(figure));
    if (movement) triggered.push(...(await countFigure(trx, scope, figure, movement)));
  }
  await recordTriggered(trx, scope, triggered);
}

const changeOf = ({ alert, accountId, currency, period, delta }: Movement) => ({
  alertId: alert.id,
  accountId,
  currency,
  periodStart: period.start,
  value: decimalText(delta),
});

const keyOf = (of: {
  readonly alertId: string;
  readonly accountId: string;
  readonly currency: string;
}): string => `${of.alertId}/${of.accountId}/${of.currency}`;

/** What charges move the figures of alerts by; of those that count the same it is summed up once. */
async function movementsOf(
  alerts: readonly Alert[],
  today: string,
  charges: readonly CountedCharge[],
): Promise<Map<string, Movement>> {
  const counted = new Map<string, readonly CountedSum[]>();
  const movements = new Map<string, Movement>();
  // In portions: there may be as many alerts as charges.
  await eachInPortions(alerts, (alert) => {
    const period = periodAt(alert.period, today);
    const { measure, attribute, accountId: account, contractId, serviceId } = alert;
    const what = JSON.stringify([measure, attribute, account, contractId, serviceId, period]);
    const sums = counted.get(what) ?? sumsOf(alert, period, charges);
    counted.set(what, sums);
    const thresholds = thresholdsOf(alert);
    for (const { accountId, currency, delta } of sums) {
      const key = keyOf({ alertId: alert.id, accountId, currency });
      movements.set(key, { alert, thresholds, accountId, currency, period, delta });
    }
  });
  return movements;
}

/** What charges come to by account and currency, as an alert counts them. */
interface CountedSum {
  readonly accountId: string;
  readonly currency: string;
  delta: Decimal;
}

function sumsOf(alert: Alert, period: Period, charges: readonly CountedCharge[]): CountedSum[] {
  // Not by one text for both: that is made for every charge.
  const byAccount = new Map<string, Map<string, CountedSum>>();
  const isByAccount = isOfEach(alert);
  for (const charge of charges) {
    if (charge.date < period.start || charge.date >= period.end) continue;
    if (charge.usageType !== 'Charge' || !concerns(alert, charge)) continue;
    const delta = deltaOf(alert, charge);
    if (delta.isZero()) continue;
    const accountId = isByAccount ? charge.accountId : noAccount;
    const currency = alert.measure === 'spend' ? charge.currency : '';
    const known = byAccount.get(accountId) ?? new Map<string, CountedSum>();
    byAccount.set(accountId, known);
    const sum = known.get(currency);
    if (sum) sum.delta = sum.delta.plus(delta);
    else known.set(currency, { accountId, currency, delta });
  }
  return [...byAccount.values()].flatMap((of) => [...of.values()]);
}

const concerns = ({ accountId, contractId, serviceId }: Alert, charge: CountedCharge): boolean =>
  (accountId === null || accountId === charge.accountId) &&
  (contractId === null || contractId === charge.contractId) &&
  (serviceId === null || serviceId === charge.serviceId);

function deltaOf({ measure, attribute }: Alert, { amount, volumes }: CountedCharge): Decimal {
  if (measure === 'spend') return amount;
  return sum(
    volumes.filter(({ attributeName }) => attributeName === attribute).map(({ volume }) => volume),
  );
}

/** A threshold that a figure has passed. */
interface Triggered {
  readonly alert: Alert;
  readonly accountId: string | null;
  /** Of amounts. */
  readonly currency: string | null;
  readonly threshold: Decimal;
  readonly value: Decimal;
}

/**
 * Which thresholds a figure has passed. One that moves for the first time in its period is what was
 * charged in it so far; what was past when the alert was made is silent.
 */
async function countFigure(
  trx: Knex.Transaction,
  scope: Scope,
  figure: Figure,
  { alert, thresholds, accountId, period, delta }: Movement,
): Promise<Triggered[]> {
  let value = new Decimal(figure.value);
  let { fired } = figure;
  if (figure.isNew) {
    value = await sumSoFar(within(scope, trx), figure, alert, period);
    const before = value.minus(delta);
    const isSilent = utcDate(alert.armedAt) >= period.start;
    fired = thresholds
      .filter((threshold) => isSilent && threshold.lessThanOrEqualTo(before))
      .map(decimalText);
  }
  const passed = thresholds.filter(
    (threshold) =>
      threshold.lessThanOrEqualTo(value) && !fired.some((known) => threshold.eq(known)),
  );
  if (figure.isNew || passed.length > 0) {
    await AlertFigure.keep(trx, scope.tenantId, {
      ...figure,
      value: decimalText(value),
      fired: [...fired, ...passed.map(decimalText)],
    });
  }
  const account = alert.accountId ?? (accountId === noAccount ? null : accountId);
  const currency = figure.currency === '' ? null : figure.currency;
  return passed.map((threshold) => ({ alert, accountId: account, currency, threshold, value }));
}

const thresholdsOf = ({ thresholds }: Alert): Decimal[] =>
  thresholds.map((threshold) => new Decimal(threshold));

/** What was charged in a period so far, with what this transaction has written. */
async function sumSoFar(
  scope: Scope,
  { accountId, currency }: Figure,
  alert: Alert,
  { start, end }: Period,
): Promise<Decimal> {
  const account = alert.accountId ?? (accountId === noAccount ? undefined : accountId);
  const { items } = await listUsageTotals(scope, {
    from: start,
    to: end,
    bucket: 'none',
    usageType: 'Charge',
    limit: 1_000,
    offset: 0,
    ...(account === undefined ? {} : { account }),
    ...(alert.contractId === null ? {} : { contract: alert.contractId }),
    ...(alert.serviceId === null ? {} : { service: alert.serviceId }),
    ...(alert.attribute === null ? {} : { attribute: alert.attribute }),
  });
  if (alert.measure === 'quantity') return sum(items.map(({ quantity }) => quantity));
  const usage = items.find((total) => total.currency === currency)?.amount ?? ZERO;
  const recurring = await RecurringCharge.sumOfPeriod(scope.db.read, scope.tenantId, {
    accountId: account ?? null,
    contractId: alert.contractId,
    serviceId: alert.serviceId,
    currency,
    start,
    end,
  });
  return usage.plus(recurring);
}

/** A balance that has moved. */
export interface MovedWallet {
  readonly walletId: string;
  readonly accountId: string;
  readonly currency: string | null;
  readonly before: Decimal;
  readonly after: Decimal;
}

/**
 * Says which thresholds balances fall below, in the transaction that moves them (spec/beyond.md R277). A
 * threshold triggers again when the balance has risen to it.
 */
export async function countBalances(
  trx: Knex.Transaction,
  scope: Pick<Scope, 'tenantId' | 'now'>,
  moved: readonly MovedWallet[],
): Promise<void> {
  const { tenantId, now } = scope;
  if (moved.length === 0) return;
  const alerts = await Alert.query(trx)
    .forTenant(tenantId)
    .existing()
    .whereRaw('wallet_id = any(?::uuid[])', [moved.map(({ walletId }) => walletId)]);
  if (alerts.length === 0) return;
  const today = utcDate(now());
  const wallets = new Map(moved.map((wallet) => [wallet.walletId, wallet]));
  const known = new Map(alerts.map((alert) => [alert.id, alert]));
  const figures = await AlertFigure.move(
    trx,
    tenantId,
    alerts.map((alert) => ({
      alertId: alert.id,
      accountId: noAccount,
      currency: '',
      periodStart: periodAt(alert.period, today).start,
      value: decimalText(wallets.get(alert.walletId ?? '')?.after ?? ZERO),
    })),
    'set',
  );
  const triggered: Triggered[] = [];
  for (const figure of figures) {
    const alert = known.get(figure.alertId);
    const wallet = wallets.get(alert?.walletId ?? '');
    if (!alert || !wallet) continue;
    const { before, after } = wallet;
    const isSilent = figure.isNew && utcDate(alert.armedAt) >= figure.periodStart;
    const fired = figure.isNew
      ? thresholdsOf(alert).filter((threshold) => isSilent && before.lessThan(threshold))
      : figure.fired.map((threshold) => new Decimal(threshold));
    const below = thresholdsOf(alert).filter((threshold) => after.lessThan(threshold));
    const passed = below.filter((threshold) => !fired.some((one) => one.eq(threshold)));
    await AlertFigure.keep(trx, tenantId, { ...figure, fired: below.map(decimalText) });
    for (const threshold of passed) {
      const { accountId, currency } = wallet;
      triggered.push({ alert, accountId, currency, threshold, value: after });
    }
  }
  await recordTriggered(trx, scope, triggered);
}

async function recordTriggered(
  trx: Knex.Transaction,
  scope: Pick<Scope, 'tenantId' | 'now'>,
  triggered: readonly Triggered[],
): Promise<void> {
  if (triggered.length === 0) return;
  const rows = triggered.map(({ alert, accountId, currency, threshold, value }) => ({
    id: newId(),
    alertId: alert.id,
    name: alert.name,
    accountId,
    walletId: alert.walletId,
    measure: alert.measure,
    threshold: decimalText(threshold),
    value: decimalText(value),
    currency,
    at: scope.now(),
  }));
  await insertAlertTriggers(trx, scope.tenantId, rows);
  const dataOf = ({ alert, accountId, threshold, value }: Triggered) => ({
    alertId: alert.id,
    name: alert.name,
    measure: alert.measure,
    threshold,
    value,
    period: alert.period,
    ...(accountId === null ? {} : { accountId }),
    ...(alert.walletId === null ? {} : { walletId: alert.walletId }),
  });
  const event = 'alert.triggered' as const;
  await recordWebhookEvents(trx, scope, [event], () =>
    triggered.map((one) => ({ event, recordId: one.alert.id, data: dataOf(one) })),
  );
  const named = triggered.flatMap((one) => {
    const { id, workflowId } = one.alert;
    return workflowId === null ? [] : [{ workflowId, recordId: id, data: dataOf(one) }];
  });
  await startNamedWorkflows(trx, scope, event, named);
}
