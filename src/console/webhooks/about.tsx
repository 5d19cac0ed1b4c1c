import type { ReactNode } from 'react';
import { RecordLink } from '../audit/record-link.tsx';
import type { Delivery } from './queries.ts';

const words: Readonly<Record<Delivery['recordType'], string>> = {
  invoice: 'Invoice',
  payment: 'Payment',
  usageEvent: 'Usage event',
  alert: 'Alert',
  execution: 'Execution of',
  record: 'Record',
  webhook: 'This webhook',
};

/** What a delivery tells of, by what people call it, and the way to it. */
export function About({ of }: { readonly of: Delivery }): ReactNode {
  const { recordType: type, recordId: id, recordName: name, workflowId, accountId } = of;
  if (type === 'webhook') return words[type];
  // Its page is below its workflow.
  if (type === 'execution' && workflowId === null) return 'An execution that is gone';
  // Of an alert the place where it is seen, not its story.
  const named = accountId === null ? { type, id, workflowId } : { type: 'account', id: accountId };
  return (
    <RecordLink of={named}>
      {words[type]} {name === null ? null : <bdi>{name}</bdi>}
    </RecordLink>
  );
}
