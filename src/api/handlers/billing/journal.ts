import { readSettledTrialBalance } from '../../../commands/balances/settle-and-read.js';
import { listJournal } from '../../../queries/billing/journal/journal-entries.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const journalHandlers: Handlers<Operations['journal']> = {
  list: ({ query: { limit, offset, ...filter } }, scope) =>
    listJournal(scope, filter, { limit, offset }),
  trialBalance: ({ query }, scope) => readSettledTrialBalance(scope, query),
};
