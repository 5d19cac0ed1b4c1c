import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { isNumberText } from '../api/exact-json.ts';
import { TierBar } from '../receipts/tier-bar.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Facts } from '../shown/values.tsx';
import { None, useSpoken, type Spoken } from './language.tsx';
import { fill } from './texts.ts';

type Explanation = Schemas['Explanation'];
type Row = Schemas['ExplainedRow'];
type Tier = Schemas['ExplainedTier'];
type Step = Schemas['ExplainedStep'];
type Discount = Schemas['ExplainedDiscount'];
type Credit = Schemas['ExplainedCredit'];

const tierColumns = ({ texts, formats }: Spoken, currency: string): readonly Column<Tier>[] => [
  { name: texts.tier, show: ({ tierNum }) => formats.quantity(tierNum) },
  { name: texts.above, isNumber: true, show: ({ from }) => formats.quantity(from) },
  { name: texts.upTo, isNumber: true, show: ({ to }) => formats.quantity(to) },
  { name: texts.quantity, isNumber: true, show: ({ volume }) => formats.quantity(volume) },
  {
    name: texts.price,
    isNumber: true,
    show: ({ unitRate, isFlat, amount }) =>
      isFlat
        ? fill(texts.once, { amount: formats.money(amount, currency) })
        : formats.money(unitRate, currency),
  },
  { name: texts.amount, isNumber: true, show: ({ amount }) => formats.money(amount, currency) },
];

function Tiers({ row, currency }: { readonly row: Row; readonly currency: string }): ReactNode {
  const spoken = useSpoken();
  const { texts, formats } = spoken;
  const { counter, tiers } = row;
  const went = fill(texts.counterWent, {
    before: formats.quantity(counter?.before ?? tiers[0]?.from ?? '0'),
    after: formats.quantity(counter?.after ?? tiers.at(-1)?.to ?? '0'),
  });
  const name = fill(texts.tiersOf, { name: row.row.label });
  return (
    <figure aria-label={name}>
      <TierBar row={row} name={went} />
      <figcaption>{went}.</figcaption>
      <DataTable
        caption={name}
        columns={tierColumns(spoken, currency)}
        rows={tiers}
        keyOf={({ tierNum, from }) => `${tierNum} ${from}`}
      />
    </figure>
  );
}

function Priced({ row, currency }: { readonly row: Row; readonly currency: string }): ReactNode {
  const { texts, formats } = useSpoken();
  const values = {
    quantity: formats.quantity(row.quantity),
    rate: formats.money(row.rate, currency),
    amount: formats.money(row.amount, currency),
  };
  return (
    <>
      <h3>
        <bdi>{row.row.label}</bdi>
      </h3>
      <p>
        <bdi>{fill(row.tiers.length === 0 ? texts.times : texts.comesTo, values)}</bdi>
      </p>
      {row.tiers.length === 0 ? null : <Tiers row={row} currency={currency} />}
    </>
  );
}

const stepColumns = ({ texts, formats }: Spoken): readonly Column<Step>[] => [
  { name: texts.step, show: ({ name, label }) => <bdi>{label ?? name}</bdi> },
  {
    name: texts.formula,
    show: ({ formula }) => (
      <bdi>
        <code>{formula}</code>
      </bdi>
    ),
  },
  {
    name: texts.value,
    isNumber: true,
    show: ({ value }) => <bdi>{isNumberText(value) ? formats.quantity(value) : value}</bdi>,
  },
];

const discountColumns = (
  { texts, formats }: Spoken,
  currency: string,
): readonly Column<Discount>[] => [
  {
    name: texts.discount,
    show: ({ kind }) => (kind === 'discountPercent' ? texts.percentOff : texts.amountOff),
  },
  {
    name: texts.value,
    isNumber: true,
    show: ({ kind, value }) =>
      kind === 'discountPercent' ? (
        <bdi>{formats.quantity(value)} %</bdi>
      ) : (
        formats.money(value, currency)
      ),
  },
  { name: texts.before, isNumber: true, show: ({ before }) => formats.money(before, currency) },
  { name: texts.after, isNumber: true, show: ({ after }) => formats.money(after, currency) },
];

const grantColumns = ({ texts, formats }: Spoken, currency: string): readonly Column<Credit>[] => [
  { name: texts.grant, show: ({ externalId }) => <bdi>{externalId}</bdi> },
  { name: texts.paid, isNumber: true, show: ({ amount }) => formats.money(amount, currency) },
];

/** How a charge came about, as far as it concerns whoever pays it. */
export function Charge({ explanation }: { readonly explanation: Explanation }): ReactNode {
  const spoken = useSpoken();
  const { texts, formats } = spoken;
  const { service, contractLine, rows, steps, total, adjustments = [], credits = [] } = explanation;
  const { currency } = total;
  return (
    <>
      <Facts
        of={[
          [texts.service, <bdi key="service">{service.name}</bdi>],
          [texts.day, formats.day(explanation.date)],
          [
            texts.contract,
            contractLine === null ? (
              <None key="contract" />
            ) : (
              <bdi key="contract">{contractLine.contractNumber}</bdi>
            ),
          ],
        ]}
      />
      {rows.map((row, index) => (
        <Priced key={`${row.row.id} ${index}`} row={row} currency={currency} />
      ))}
      {steps.length === 0 ? null : (
        <DataTable
          caption={texts.steps}
          columns={stepColumns(spoken)}
          rows={steps}
          keyOf={({ logic, name }, index) => `${logic} ${name} ${index}`}
        />
      )}
      {adjustments.length === 0 ? null : (
        <DataTable
          caption={texts.discounts}
          columns={discountColumns(spoken, currency)}
          rows={adjustments}
          keyOf={({ adjustmentId }) => adjustmentId}
        />
      )}
      <p className="total">
        {texts.total} <strong>{formats.money(total.amount, currency)}</strong>
      </p>
      {credits.length === 0 ? null : (
        <DataTable
          caption={texts.grants}
          columns={grantColumns(spoken, currency)}
          rows={credits}
          keyOf={({ grantId }) => grantId}
        />
      )}
    </>
  );
}
