import { accountIdOf } from '../../support/servers/fill.js';
import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';

/** Money that is held, given and paid, by as many at once as can be: each of them locks a wallet or invoices. */

const external = '/api/v1/external';
const textOf = (value: unknown): string => JSON.stringify(value);
/** More than may wait in one group (docs/decisions/0431), several times over. */
const manyAtOnce = 256;

/** Wallets of as many accounts, with more money than can be held. */
async function fillWallets(attacker: Attacker, accounts: number): Promise<void> {
  const balance = 1_000_000_000;
  await Promise.all(
    Array.from({ length: accounts }, (_each, index) =>
      attacker.make(`${external}/wallets`, {
        title: `w-${attacker.stamp}-${index}`,
        accountId: accountIdOf(index),
        currency: 'USD',
        balance,
        availableBalance: balance,
      }),
    ),
  );
}

const hold = (attacker: Attacker, accountId: string) => ({
  path: '/v1/holds',
  method: 'POST' as const,
  body: textOf({
    accountId,
    currency: 'USD',
    amount: 0.000001,
    expiresInSeconds: 2_592_000,
    key: `${attacker.stamp}-${attacker.next()}`,
  }),
});

export const balanceAttacks: readonly Attack[] = [
  {
    name: 'holds: as many at once on one wallet',
    operations: ['createHold'],
    isShort: true,
    async run(attacker) {
      await fillWallets(attacker, 1);
      await attacker.flood(() => hold(attacker, accountIdOf(0)), manyAtOnce);
    },
  },
  {
    name: 'holds: as many at once on a wallet each',
    operations: ['createHold'],
    async run(attacker) {
      await fillWallets(attacker, 64);
      await attacker.flood((index) => hold(attacker, accountIdOf(index % 64)), manyAtOnce);
    },
  },
  {
    name: 'holds: the same key by all at once, and balances read meanwhile',
    operations: ['createHold', 'getAccountBalance', 'listHolds'],
    async run(attacker) {
      await fillWallets(attacker, 1);
      const accountId = accountIdOf(0);
      const same = hold(attacker, accountId);
      const reads = ['balance', 'holds?limit=1000'].map((of) => ({
        path: `/v1/accounts/${accountId}/${of}`,
      }));
      await attacker.flood((index) => reads[index % 3] ?? same, manyAtOnce);
    },
  },
  {
    name: 'usage that goes up and down, beside as many grants as may be open, and billed all the time',
    operations: ['createAdjustment', 'cancelUsageEvent'],
    leavesUsage: true,
    // Grants are made first.
    seconds: 20,
    async run(attacker) {
      const account = await attacker.make(`${external}/accounts`, {
        name: `a-${attacker.stamp}`,
        externalId: `falls-${attacker.stamp}`,
      });
      const service = await attacker.make(`${external}/services`, {
        name: `f-${attacker.stamp}`,
        currency: 'USD',
        priceableAttributes: [
          {
            name: 'units',
            dimensionDataType: 'Number',
            isMeterDimension: true,
            meterResetFrequency: 'Monthly',
            aggregation: 'LAST',
          },
        ],
        rateCards: [
          {
            currency: 'USD',
            rows: [{ label: 'Units', priceDimName: 'units', priceMethod: 'QUANTITY', unitRate: 1 }],
          },
        ],
      });
      const [accountId, serviceId] = [String(account?.['id']), String(service?.['id'])];
      const wallet = await attacker.make(`${external}/wallets`, {
        title: `w-${attacker.stamp}`,
        accountId,
        currency: 'USD',
      });
      const grants = `/v1/wallets/${String(wallet?.['id'])}/grants`;
      for (let index = 0; index < 500; index += 1) {
        await attacker.make(grants, { externalId: `g-${index}`, amount: 2, kind: 'promotional' });
      }
      for (const kind of ['maximum', 'minimum', 'commitment']) {
        const agreed = { accountId, kind, value: 700, currency: 'USD', from: '2026-01-01' };
        await attacker.make('/v1/adjustments', agreed);
      }
      const period = { periodStart: '2026-10-01', periodEnd: '2026-10-31' };
      await attacker.flood((index) => {
        const id = `${attacker.stamp}-${index}`;
        if (index % 20 === 19) {
          return {
            path: '/v1/workflows/billing-run/execute',
            method: 'POST',
            body: textOf({ data: { ...period, accountId }, async: true }),
          };
        }
        if (index % 20 === 9) {
          return {
            path: `/v1/usage-events/${attacker.stamp}-${index - 8}-0/cancel`,
            method: 'POST',
            body: textOf({ reason: 'To give back.' }),
          };
        }
        const batch = Array.from({ length: 100 }, (_each, at) => ({
          key: `${id}-${at}`,
          message: {
            externalTransactionId: `${id}-${at}`,
            serviceId,
            billingAccountRef: `falls-${attacker.stamp}`,
            eventTimestamp: '2026-10-05T12:00:00Z',
            // All grants pay it, and all of them get it back.
            dimensions: { units: at % 2 === 0 ? '1000' : '0' },
          },
        }));
        return { path: '/v1/ingest/usage/batch', method: 'POST', body: textOf(batch) };
      });
    },
  },
  {
    name: 'adjustments of every day, as many as may be, of a whole year',
    operations: ['executeWorkflow', 'getNextInvoice'],
    async run(attacker) {
      const account = await attacker.make(`${external}/accounts`, {
        name: `d-${attacker.stamp}`,
        externalId: `daily-${attacker.stamp}`,
      });
      const accountId = String(account?.['id']);
      // Two of a kind for the same charges and days are refused.
      const kinds = [
        { kind: 'minimum', value: 1 },
        { kind: 'commitment', value: 2 },
        { kind: 'maximum', value: 1_000 },
      ];
      const made = await Promise.all(
        Array.from({ length: 17 }, (_each, index) =>
          attacker.make(`${external}/services`, {
            name: `d-${attacker.stamp}-${index}`,
            currency: 'USD',
            priceableAttributes: [{ name: 'units', dimensionDataType: 'Number' }],
          }),
        ),
      );
      const services = made.map((service) => String(service?.['id']));
      await Promise.all(
        Array.from({ length: 50 }, (_each, index) =>
          attacker.make('/v1/adjustments', {
            accountId,
            ...kinds[index % kinds.length],
            serviceId: services[Math.floor(index / kinds.length)],
            currency: 'USD',
            period: 'Daily',
            from: '2025-12-01',
          }),
        ),
      );
      const data = { periodStart: '2025-12-01', periodEnd: '2026-12-31', accountId, dryRun: true };
      const body = textOf({ data });
      await attacker.flood((index) =>
        index % 4 === 3
          ? { path: `/v1/accounts/${accountId}/next-invoice` }
          : { path: '/v1/workflows/billing-run/execute', method: 'POST', body },
      );
    },
  },
  {
    name: 'a minimum of every day since 1900, tried for as many days as may be, and billed in 8990',
    operations: ['executeWorkflow'],
    async run(attacker) {
      const account = await attacker.make(`${external}/accounts`, {
        name: `o-${attacker.stamp}`,
        externalId: `old-${attacker.stamp}`,
      });
      const accountId = String(account?.['id']);
      const agreed = { accountId, kind: 'minimum', value: 1, currency: 'USD', period: 'Daily' };
      await attacker.make('/v1/adjustments', { ...agreed, from: '1900-01-01' });
      const first = {
        externalTransactionId: `old-${attacker.stamp}`,
        serviceId: attacker.loot.params['serviceId'],
        billingAccountRef: `old-${attacker.stamp}`,
        eventTimestamp: '1900-01-01T12:00:00Z',
        dimensions: { api_calls: '1' },
      };
      await attacker.make('/v1/ingest/usage', { key: `old-${attacker.stamp}`, message: first });
      const tryFrom = (from: string, to: string) => ({
        name: 'Try',
        from,
        to,
        changes: [{ kind: 'adjustment', adjustment: { ...agreed, value: 2, from } }],
      });
      const days = { periodStart: '8990-01-01', periodEnd: '8990-01-31' };
      const works: readonly (readonly [string, object])[] = [
        ['billing-run', { ...days, accountId, dryRun: true }],
        ['reprice', tryFrom('1999-01-01', '2026-01-01')],
        ['reprice', tryFrom('0001-01-01', '9999-12-31')],
        ['reprice', tryFrom('9999-12-01', '9999-12-31')],
      ];
      await attacker.flood((index) => {
        const [name, data] = works[index % works.length] ?? ['', {}];
        const body = textOf({ data, async: true });
        return { path: `/v1/workflows/${name}/execute`, method: 'POST', body };
      });
    },
  },
  {
    name: 'grants by the thousand on one wallet',
    operations: ['createWalletGrant', 'listWalletGrants', 'listWalletEntries'],
    async run(attacker) {
      const path = `/v1/wallets/${attacker.loot.params['walletId'] ?? ''}`;
      await attacker.flood((index) =>
        index % 4 === 0
          ? { path: `${path}/${index % 8 === 0 ? 'grants' : 'entries'}?limit=100` }
          : {
              path: `${path}/grants`,
              method: 'POST',
              body: textOf({
                externalId: `${attacker.stamp}-${index}`,
                amount: 0.01,
                kind: 'promotional',
                expiresAt: '2099-01-01',
              }),
            },
      );
    },
  },
  {
    name: 'payments of an account with 50,000 open invoices',
    // To make the invoices takes five.
    seconds: 12,
    operations: ['runSavePayment', 'runSavePaymentBatch', 'previewVoid'],
    isShort: true,
    async run(attacker) {
      await attacker.query(
        `insert into invoice select made.*
         from invoice i, generate_series(1, 50000) as n, lateral jsonb_populate_record(i, jsonb_build_object(
           'id', gen_random_uuid(), 'invoice_no', 'OPEN-' || n, 'due_date', date '2000-01-01' + n / 11)) as made
         where i.invoice_no = 'INV-HUGE'`,
      );
      const { references } = attacker.loot;
      const payment = (place: string) => ({
        account_id: accountIdOf(0),
        amount: 1,
        currency_id: 'USD',
        payment_date: '2026-10-05',
        payment_method: 'ACH',
        payment_reference: `${attacker.stamp}-${place}`,
      });
      const run = `${external}/run/billing/payment/create`;
      await attacker.flood((index) => {
        if (index % 4 === 0) {
          const data = Array.from({ length: 100 }, (_each, place) => payment(`${index}-${place}`));
          return { path: `${run}/batch`, method: 'POST', body: textOf({ data }) };
        }
        return index % 4 === 1
          ? { path: `/v1/invoices/${references['invoiceId']}/void/preview`, method: 'POST' }
          : { path: run, method: 'POST', body: textOf(payment(`${index}`)) };
      });
    },
  },
  {
    name: 'payments that pay ten thousand invoices, shown and deleted',
    // To make the invoices takes two.
    seconds: 14,
    operations: ['createPayment', 'deletePayment', 'applyPayment', 'getPaymentApplications'],
    isShort: true,
    async run(attacker) {
      const accountId = await attacker.makeId(`${external}/accounts`, { name: attacker.stamp });
      await attacker.query(
        `insert into invoice select made.*
         from invoice i, generate_series(1, 20000) as n, lateral jsonb_populate_record(i, jsonb_build_object(
           'id', gen_random_uuid(), 'invoice_no', 'PAID-' || n, 'account_id', '${accountId}',
           'amount', 1, 'tax_amount', 0, 'balance', 1, 'due_date', date '1999-01-01' + n / 11)) as made
         where i.invoice_no = 'INV-HUGE'`,
      );
      await attacker.repeat(async () => {
        const id = await attacker.makeId(`${external}/payments`, {
          accountId,
          currency: 'USD',
          amount: 20_000,
          paymentDate: '2026-10-05',
          paymentReference: `${attacker.stamp}-paid-${attacker.next()}`,
          paymentMethod: 'ACH',
          paymentType: 'Pay In',
        });
        if (id === '') return;
        const place = `/v1/payments/${id}`;
        for (let turn = 0; turn < 9; turn += 1) {
          await attacker.send({ path: `${place}/apply`, method: 'POST', body: '{}' });
        }
        await attacker.send({ path: `${place}/applications` });
        await attacker.send({ path: `${external}/payments/${id}`, method: 'DELETE' });
      });
    },
  },
  {
    name: 'previews of the void of an invoice that 10,000 payments pay',
    // To make the payments takes three.
    seconds: 12,
    operations: ['previewVoid', 'previewCreditNote'],
    isShort: true,
    async run(attacker) {
      const accountId = await attacker.makeId(`${external}/accounts`, { name: attacker.stamp });
      const invoiceId = crypto.randomUUID();
      await attacker.query(
        `insert into invoice select made.*
         from invoice i, lateral jsonb_populate_record(i, jsonb_build_object(
           'id', '${invoiceId}', 'invoice_no', 'CENTS', 'account_id', '${accountId}',
           'amount', 10000, 'tax_amount', 0, 'balance', 10000)) as made
         where i.invoice_no = 'INV-HUGE'`,
      );
      await attacker.make(`${external}/payments`, {
        accountId,
        currency: 'USD',
        amount: 1,
        paymentDate: '2026-10-05',
        paymentReference: `cents ${attacker.stamp}`,
        paymentMethod: 'ACH',
        paymentType: 'Pay In',
      });
      await attacker.query(
        `with paying as (
           insert into payment select made.*
           from payment p, generate_series(1, 9999) as n, lateral jsonb_populate_record(p, jsonb_build_object(
             'id', gen_random_uuid(), 'payment_reference', 'cent ' || n)) as made
           where p.account_id = '${accountId}' returning id
         )
         insert into payment_application (tenant_id, id, payment_id, invoice_id, amount)
         select 'attacker', gen_random_uuid(), id, '${invoiceId}', 1 from paying`,
      );
      await attacker.flood((index) =>
        index % 2 === 0
          ? { path: `/v1/invoices/${invoiceId}/void/preview`, method: 'POST' }
          : {
              path: `/v1/invoices/${invoiceId}/credit-notes/preview`,
              method: 'POST',
              body: '{"reason":"all"}',
            },
      );
    },
  },
];
