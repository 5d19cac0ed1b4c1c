/** `creditedAmount` as `credited amount`; what is all in capitals stays. */
export const wordsOf = (name: string): string =>
  name.replace(/(?<=[a-z0-9])[A-Z](?![A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);

/** What happened of records, as people say it: before what they are called, and after. */
const subjects: Readonly<Record<string, string>> = {
  account: 'Account',
  address: 'An address',
  contract: 'Contract',
  wallet: 'Wallet',
  invoice: 'Invoice',
  payment: 'Payment',
  grant: 'Grant',
  alert: 'Alert',
  flow: 'Workflow',
};

const verbs: Readonly<Record<string, string>> = {
  created: 'was made',
  updated: 'was changed',
  deleted: 'was removed',
  posted: 'was posted',
  voided: 'was voided',
  paid: 'was paid in full',
  overdue: 'became overdue',
  credited: 'was credited',
  triggered: 'was triggered',
  running: 'is running',
  completed: 'was completed',
  failed: 'failed',
  canceled: 'was canceled',
  timed_out: 'ran out of time',
  terminated: 'was stopped',
};

/** What has another verb of its own, or a reason instead of a name. */
const sentences: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'grant.created': ['Grant', ' was given'],
  'payment.created': ['Payment', ' was recorded'],
  'correction.cancel': ['An event was canceled, with the reason', ''],
  'correction.amend': ['An event was amended, with the reason', ''],
  'correction.rerate': ['Usage was rated again, with the reason', ''],
};

/** Numbers of credit notes begin so; to the API they are invoices, too. */
const creditNote = /^CN-/;

/** `invoice.posted` as a sentence around what the record is called: Invoice … was posted. */
export function sentenceOf(
  event: string,
  name: string | null,
): readonly [before: string, after: string] {
  const [of = '', what = ''] = event.split('.');
  const after = ` ${verbs[what] ?? what.replaceAll('_', ' ')}`;
  const subject = of === 'invoice' && name && creditNote.test(name) ? 'Credit note' : subjects[of];
  return sentences[event] ?? [subject ?? wordsOf(of), after];
}
