import { defined } from '../../kernel/defined.js';
import type { Operation } from '../http/operation.js';

/** The headings of the documentation, in the order in which one needs them, and what is below them. */
const introductions: Readonly<Record<string, string>> = {
  Accounts:
    'Who uses, and who is billed: customers, and partners who are owed. `externalId` is your own name ' +
    'of an account; usage events say it.',
  Services:
    'What is sold: attributes that can be counted, a rate card for each currency whose rows price them, ' +
    'and pricing logic, formulas over these prices.',
  Contracts: 'What was agreed with an account, for a time: lines that each sell a service.',
  'Contract services':
    'The lines of contracts: from when to when a service is sold, for which instance, with which values, ' +
    'and at which prices where these are not the list prices.',
  'Usage ingestion':
    'Where usage enters. What is answered with 200 is stored, and is rated, rejected with a reason, or ' +
    'recognized as a duplicate moments later.',
  'Usage events':
    'What became of usage, and why it costs what it costs; what was rejected is rated again here, and ' +
    'what did not happen is priced.',
  Corrections:
    'Usage that was wrong: canceled, given other content, or rated again. Nothing that was rated is ' +
    'changed; reversals and new charges are added.',
  'What if':
    'What usage would cost with other prices, logic or volumes, beside the books. The workflow `reprice` ' +
    'finds it out; prices that were tried are promoted.',
  'Rated transactions': 'Charges: what an event, or a period of a subscription, costs an account.',
  Invoices:
    'What billing runs have posted. An invoice never changes: it is voided, and its charges are billed ' +
    'again. The workflow `billing-run` makes them.',
  Schedules:
    'When billing runs and audits of usage begin by themselves, after each day, week or month.',
  Payments: 'Money that came in or went out, and which invoices it pays.',
  'Tax rates': 'How charges are taxed, by the tax code of the row that prices them.',
  Wallets:
    'Money that accounts have in advance: grants, which charges draw on when they are made, and the ledger of all of it.',
  Journal:
    'The ledger under charges, grants, invoices and payments: every movement of money, in entries that balance.',
  Alerts:
    'What you want to be told of: spending, volumes and balances that pass a threshold, each once a period.',
  Adjustments:
    'What is agreed beside prices: discounts of each charge, and minimums, maximums and commitments of a period.',
  Flows:
    'Business processes by their slug: durable workflows that end whatever crashes, take back what they ' +
    'did when they fail, and happen once under an `Idempotency-Key`.',
  Workflows:
    'The same processes by name, and those without slug, such as `billing-run`; their executions with ' +
    'who asked and what came of it.',
  Approvals:
    'What waits for a yes or a no: records that are not approved, and steps of workflows of your own.',
  'Price matrices':
    'Rate cards in the form that screens of prices use: the same cards, the same rules.',
  'Rate computations':
    'Pricing logic in the form that screens of formulas use, and a check of all of it.',
  'Record types': 'Which records of your own kind there are, and which fields they have.',
  Records: 'Records of your own kind, filtered and sorted by their fields.',
  Webhooks:
    'Addresses of yours that are told what happens, signed as the Standard Webhooks specification says, ' +
    'at least once, until they have it.',
  Exports:
    'All rows of a kind as one stream: for a warehouse, a spreadsheet, an auditor. Exact, in a stable ' +
    'order, and each row says how to go on behind it.',
  Audit: 'Who changed what, when, from what to what.',
  Clock:
    'The time of the tenant: the real one, or of a sandbox one that is moved, so that a year of billing ' +
    'is tried in seconds.',
  Status:
    'How far work is: what waits and since when, what was rated by minute, what failed, and which parts answer.',
  Retention: 'How long data are kept, and what was removed.',
  'Reference data': 'Names that other operations take: countries, currencies, picklists.',
  OAuth: 'How applications, such as assistants, are let in by their users.',
  Credentials: 'What gives access, and how to take it back.',
};

/** The headings of these operations with their introductions. */
export function tagsOf(operations: readonly Operation[]): object[] {
  const used = new Set(operations.map(({ tag }) => tag));
  const known = Object.keys(introductions).filter((name) => used.has(name));
  return [...new Set([...known, ...used])].map((name) => ({
    name,
    ...defined({ description: introductions[name] }),
  }));
}
