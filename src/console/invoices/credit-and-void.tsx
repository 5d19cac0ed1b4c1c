import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { isNumberText } from '../api/exact-json.ts';
import { Section } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Field, Reason } from '../shown/field.tsx';
import { moneyText } from '../shown/format.ts';
import { Fault } from '../shown/loaded.tsx';
import { Status } from '../shown/values.tsx';
import { credit, creditNotes, voidInvoice, type WholeInvoice } from './queries.ts';

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

/** What a credit of an item, or of all, will do, before it is done. */
const creditText = (of: WholeInvoice, itemId: string, amount: string): string => {
  const item = of.items.find(({ id }) => id === itemId);
  const said = (sum: string): string => moneyText(sum, of.currency);
  const before =
    of.creditedAmount === '0' ? '' : `; ${said(of.creditedAmount)} were credited before`;
  const open = of.balance === '0' ? 'Nothing is open now.' : `${said(of.balance)} are open now.`;
  return item === undefined
    ? `Credits all that is left of ${said(of.total)}, tax included${before}. ${open}`
    : `Credits ${isNumberText(amount) ? said(amount) : '…'} of ${said(item.amount)} for ${item.description ?? 'the item'}, and the tax in proportion. ${open}`;
};

function Credit({ of, reason }: { readonly of: WholeInvoice; readonly reason: string }): ReactNode {
  const [itemId, setItemId] = useState('');
  const [amount, setAmount] = useState('');
  const isOfItem = itemId !== '';
  if (of.creditedAmount === of.total) return <p>All of it is credited.</p>;
  return (
    <>
      <div className="fields">
        <label>
          <span>Credit</span>
          <select value={itemId} onChange={({ target }) => setItemId(target.value)}>
            <option value="">All that is left</option>
            {of.items.map(({ id, description, amount: charged }) => (
              <option key={id} value={id}>
                {description ?? 'Without a description'}: {moneyText(charged, of.currency)}
              </option>
            ))}
          </select>
        </label>
        {isOfItem ? (
          <Field label="Amount, without tax" type="number" value={amount} onChange={setAmount} />
        ) : null}
      </div>
      <p>{creditText(of, itemId, amount)}</p>
      <Action
        name="Make the credit note"
        isPrimary
        isDisabled={reason === '' || (isOfItem && !isNumberText(amount))}
        onDo={() => credit(of.id, reason, isOfItem ? [{ itemId, amount }] : undefined)}
        told={({ invoiceNo, total, currency }) =>
          `${invoiceNo} credits ${moneyText(total, currency)}.`
        }
      />
    </>
  );
}

/** What was billed wrongly: credited, or void and billed again. */
export function Mend({ of }: { readonly of: WholeInvoice }): ReactNode {
  const [reason, setReason] = useState('');
  if (of.invoiceStatus === 'Void') {
    return (
      <p>
        Its charges are billed by the next run: <Link to="/billing">bill them again</Link>.
      </p>
    );
  }
  const isNote = of.invoiceType !== 'Invoice';
  return (
    <details>
      <summary>Mend it: credit or void</summary>
      <Section title="Credit or void">
        <Reason label="Reason, which the document says" value={reason} onChange={setReason} />
        {isNote ? null : <Credit of={of} reason={reason.trim()} />}
        <p>
          {isNote
            ? 'Void, it credits nothing, and its invoice is owed again.'
            : `Void, it keeps its number, and of ${moneyText(of.total, of.currency)} nothing is owed. Its usage and charges are billed by the next run.`}
        </p>
        <Action
          name="Void it"
          isDisabled={reason.trim() === ''}
          onDo={() => voidInvoice(of.id, reason.trim())}
          told={({ invoiceStatus }) => `It is ${invoiceStatus}.`}
        />
      </Section>
    </details>
  );
}
