import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { isNumberText } from '../api/exact-json.ts';
import { Section } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { TryFirst } from '../shown/action.tsx';
import { Field, lackOfReason, Reason } from '../shown/field.tsx';
import { moneyText } from '../shown/format.ts';
import { Fault } from '../shown/loaded.tsx';
import { Status } from '../shown/values.tsx';
import { CreditPreview, VoidPreview } from './mending-previews.tsx';
import {
  credit,
  creditNotes,
  previewCredit,
  previewVoid,
  voidInvoice,
  type WholeInvoice,
} from './queries.ts';

type Note = Schemas['InvoiceSummary'];

const columns: readonly Column<Note>[] = [
  {
    name: 'Number',
    show: ({ id, invoiceNo }) => (
      <Link to="/invoices/$invoiceId" params={{ invoiceId: id }}>
        {invoiceNo}
      </Link>
    ),
  },
  { name: 'Date', show: ({ invoiceDate }) => invoiceDate },
  { name: 'Status', show: ({ invoiceStatus }) => <Status name={invoiceStatus} /> },
  { name: 'Total', isNumber: true, show: ({ total, currency }) => moneyText(total, currency) },
];

/** The credit notes against an invoice, where there are any. */
export function CreditNotes({ of }: { readonly of: WholeInvoice }): ReactNode {
  const { data, error } = useQuery(creditNotes(of.id));
  if (error) return <Fault error={error} />;
  if (data === undefined || data.data.length === 0) return null;
  return (
    <DataTable
      caption="Credit notes against it"
      columns={columns}
      rows={data.data}
      keyOf={({ id }) => id}
    />
  );
}

function Credit({ of, reason }: { readonly of: WholeInvoice; readonly reason: string }): ReactNode {
  const [itemId, setItemId] = useState('');
  const [amount, setAmount] = useState('');
  const isOfItem = itemId !== '';
  const credited = isOfItem ? [{ itemId, amount }] : undefined;
  if (of.creditedAmount === of.total) return <p>All of it is credited.</p>;
  return (
    <>
      <div className="fields">
        <label>
          <span>Credit</span>
          <select name="itemId" value={itemId} onChange={({ target }) => setItemId(target.value)}>
            <option value="">All that is left</option>
            {of.items.map(({ id, description, amount: charged, creditedAmount }) => (
              <option key={id} value={id}>
                {description ?? 'Without a description'}: {moneyText(charged, of.currency)}
                {creditedAmount === '0'
                  ? ''
                  : `, of which ${moneyText(creditedAmount, of.currency)} is credited`}
              </option>
            ))}
          </select>
        </label>
        {isOfItem ? (
          <Field
            name="amount"
            label="Amount, without tax"
            type="number"
            value={amount}
            onChange={setAmount}
          />
        ) : null}
      </div>
      <TryFirst
        // What was refused of one item says nothing of another.
        key={itemId}
        operation="createCreditNote"
        tryName="What the credit comes to"
        name="Make the credit note"
        of={`${itemId} ${amount} ${of.creditedAmount} ${of.balance}`}
        lacks={
          lackOfReason(reason) ??
          (isOfItem && !isNumberText(amount) ? 'Write the amount as a number first.' : undefined)
        }
        onTry={() => previewCredit(of.id, reason, credited)}
        show={(tried) => <CreditPreview of={tried} />}
        onDo={() => credit(of.id, reason, credited)}
        told={({ invoiceNo, total, currency }) =>
          `${invoiceNo} credits ${moneyText(total, currency)}.`
        }
      />
    </>
  );
}

/** Where it leads to once it is void: to what is owed again, or to billing what it charged. */
const AfterVoid = ({ of }: { readonly of: WholeInvoice }): ReactNode =>
  of.creditedInvoiceId === null ? (
    <p>
      Its charges are billed by the next run:{' '}
      <Link
        to="/billing"
        search={{
          accountId: of.accountId,
          ...(of.periodStart === null ? {} : { from: of.periodStart }),
          ...(of.periodEnd === null ? {} : { to: of.periodEnd }),
        }}
      >
        bill them again
      </Link>
      .
    </p>
  ) : (
    <p>
      What it credited is owed again:{' '}
      <Link to="/invoices/$invoiceId" params={{ invoiceId: of.creditedInvoiceId }}>
        its invoice
      </Link>
      .
    </p>
  );

/** What was billed wrongly: credited, or void and billed again. What that does is said before. */
export function Mend({ of }: { readonly of: WholeInvoice }): ReactNode {
  const [reason, setReason] = useState('');
  if (of.invoiceStatus === 'Void') return <AfterVoid of={of} />;
  const isCredited = of.invoiceType === 'Invoice';
  return (
    <details>
      <summary>Mend it: {isCredited ? 'credit or void' : 'void'}</summary>
      <Section title={isCredited ? 'Credit or void' : 'Void'}>
        <Reason label="Reason, which the document says" value={reason} onChange={setReason} />
        {isCredited ? <Credit of={of} reason={reason.trim()} /> : null}
        <p>
          {of.creditedInvoiceId === null
            ? 'Void, it keeps its number, and nothing is owed on it. Its usage and charges are billed by the next run.'
            : 'Void, it credits nothing, and its invoice is owed again.'}
        </p>
        <TryFirst
          operation="voidInvoice"
          tryName="What voiding it does"
          name="Void it"
          isDangerous
          of={`${of.creditedAmount} ${of.balance}`}
          lacks={lackOfReason(reason)}
          onTry={() => previewVoid(of.id)}
          show={(tried) => <VoidPreview of={tried} accountId={of.accountId} />}
          onDo={() => voidInvoice(of.id, reason.trim())}
          told={({ invoiceStatus }) => `It is ${invoiceStatus}.`}
        />
      </Section>
    </details>
  );
}
