import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Facts, orNone } from '../shown/values.tsx';
import { Tiers } from './tier-bar.tsx';
import { totalText } from './total-text.ts';
import { leftOutText, whyText } from './why-text.ts';

type Explanation = Schemas['Explanation'];
type ExplainedRow = Schemas['ExplainedRow'];
type ExplainedStep = Schemas['ExplainedStep'];

const stepColumns: readonly Column<ExplainedStep>[] = [
  { name: 'Step', show: ({ name, label }) => label ?? name },
  { name: 'Formula', show: ({ formula }) => <code>{formula}</code> },
  { name: 'Value', isNumber: true, show: ({ value }) => value },
];

/** How a row prices, where its price alone does not say so. */
const methodNames: Readonly<Record<string, string>> = {
  QUANTITY: 'by quantity',
  TIERED: 'by tiers',
  VOLUME: 'all of it at the tier that it reaches',
  PACKAGE: 'by packages',
  FLAT_RATE: 'once, whatever the quantity',
  AMOUNT: 'as a share of an amount',
  NO_PRICE: 'at no price of its own',
};

function Row({ row, currency }: { readonly row: ExplainedRow; readonly currency: string }) {
  const { label, attributeName, priceMethod } = row.row;
  return (
    <>
      <h3>
        <bdi>{label}</bdi>
      </h3>
      <p>
        {quantityText(row.quantity)} of <bdi>{attributeName}</bdi>, priced{' '}
        {methodNames[priceMethod] ?? priceMethod}:{' '}
        <strong>{moneyText(row.amount, currency)}</strong>
        {row.tiers.length > 0 ? null : ` at ${moneyText(row.rate, currency)} each`}
      </p>
      {whyText(row).map((sentence) => (
        <p key={sentence} className="muted">
          {sentence}
        </p>
      ))}
      {row.tiers.length === 0 ? null : <Tiers row={row} currency={currency} />}
    </>
  );
}

type Adjustment = NonNullable<Explanation['adjustments']>[number];
type Credit = NonNullable<Explanation['credits']>[number];

const discountNames: Readonly<Record<string, string>> = {
  discountPercent: 'Percent off',
  discountAmount: 'Amount off',
};

/** What was taken off, where there is any. */
function Discounts({ of, currency }: { readonly of: Explanation; readonly currency: string }) {
  const discounts: readonly Column<Adjustment>[] = [
    { name: 'Discount', show: ({ kind }) => discountNames[kind] ?? kind },
    {
      name: 'Value',
      isNumber: true,
      show: ({ kind, value }) =>
        kind === 'discountPercent' ? `${quantityText(value)} %` : moneyText(value, currency),
    },
    { name: 'Before', isNumber: true, show: ({ before }) => moneyText(before, currency) },
    { name: 'After', isNumber: true, show: ({ after }) => moneyText(after, currency) },
  ];
  const rows = of.adjustments ?? [];
  if (rows.length === 0) return null;
  return (
    <DataTable
      caption="Discounts"
      columns={discounts}
      rows={rows}
      keyOf={({ adjustmentId }) => adjustmentId}
    />
  );
}

/** The grants that paid, where any did. */
function Grants({ of, currency }: { readonly of: Explanation; readonly currency: string }) {
  const grants: readonly Column<Credit>[] = [
    { name: 'Grant', show: ({ externalId }) => <bdi>{externalId}</bdi> },
    { name: 'Kind', show: ({ kind }) => kind },
    { name: 'Paid', isNumber: true, show: ({ amount }) => moneyText(amount, currency) },
  ];
  const rows = of.credits ?? [];
  if (rows.length === 0) return null;
  return (
    <DataTable
      caption="Grants that paid"
      columns={grants}
      rows={rows}
      keyOf={({ grantId }) => grantId}
    />
  );
}

/** Which prices were taken; those that are tried have no version yet. */
export const cardText = ({
  source,
  versionNo,
  fromDate,
}: {
  readonly source: string;
  readonly versionNo: string;
  readonly fromDate: string;
}): string =>
  `${source}, ${versionNo === '0' ? 'as it was tried' : `version ${versionNo}`} from ${fromDate}`;

/** How a charge came about, from its card to its total. */
export function Charge({
  explanation,
  days,
}: {
  readonly explanation: Explanation;
  /** Of a part of a period: "16 of 31 days". */
  readonly days?: string | undefined;
}): ReactNode {
  const { service, contractLine, card, rows, steps, total, leftOut } = explanation;
  const { currency } = total;
  return (
    <>
      <Facts
        of={[
          [
            'Service',
            <Link
              key="service"
              to="/prices/$serviceId"
              params={{ serviceId: service.id }}
              search={{}}
            >
              <bdi>{service.name}</bdi>
            </Link>,
          ],
          ['Day', explanation.date],
          ['Contract', orNone(contractLine?.contractNumber)],
          ['Instance', orNone(contractLine?.serviceInstanceId)],
          ['Card', cardText(card)],
        ]}
      />
      {card.note === undefined ? null : <p className="muted">{card.note}</p>}
      {rows.map((row, index) => (
        <Row key={`${row.row.id} ${index}`} row={row} currency={currency} />
      ))}
      {steps.length === 0 ? null : (
        <DataTable
          caption="Pricing logic, step by step"
          columns={stepColumns}
          rows={steps}
          keyOf={({ logic, name }, index) => `${logic} ${name} ${index}`}
        />
      )}
      {leftOut === undefined ? null : <p className="muted">{leftOutText(leftOut)}</p>}
      <Discounts of={explanation} currency={currency} />
      <p className="total">
        {totalText(explanation, days)}
        <strong>{moneyText(total.amount, currency)}</strong>
      </p>
      <Grants of={explanation} currency={currency} />
    </>
  );
}
