import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A record as the API names what it is: of the audit, of time lines, of what webhooks were told. */
interface Named {
  readonly type: string;
  readonly id: string;
  /** Of an execution: a name may be that of another workflow meanwhile. */
  readonly workflowId?: string | null;
}

/** The way to the page of a record; of what has none, to its story in the audit, or none. */
export function RecordLink({
  of: { type, id, workflowId },
  hasStory = true,
  children,
}: {
  readonly of: Named;
  /** Whether the audit is another page than this. */
  readonly hasStory?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  switch (type) {
    case 'account':
      return (
        <Link to="/accounts/$accountId" params={{ accountId: id }}>
          {children}
        </Link>
      );
    case 'invoice':
      return (
        <Link to="/invoices/$invoiceId" params={{ invoiceId: id }}>
          {children}
        </Link>
      );
    case 'service':
      return (
        <Link to="/prices/$serviceId" params={{ serviceId: id }}>
          {children}
        </Link>
      );
    case 'webhook':
      return (
        <Link to="/webhooks/$webhookId" params={{ webhookId: id }} search={{}}>
          {children}
        </Link>
      );
    case 'usageEvent':
      return (
        <Link to="/receipts/$eventId" params={{ eventId: id }} search={{}}>
          {children}
        </Link>
      );
    case 'correction':
    case 'usageCorrection':
      return (
        <Link to="/usage/corrections/$correctionId" params={{ correctionId: id }} search={{}}>
          {children}
        </Link>
      );
    case 'execution':
      return (
        <Link
          to="/workflows/$workflowId/executions/$executionId"
          params={{ workflowId: workflowId ?? '', executionId: id }}
        >
          {children}
        </Link>
      );
    default:
      return hasStory ? (
        <Link to="/audit" search={{ entity: type, id }}>
          {children}
        </Link>
      ) : (
        children
      );
  }
}
