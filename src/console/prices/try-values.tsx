import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Section } from '../frame/page.tsx';
import { Charge } from '../receipts/explanation.tsx';
import { Action } from '../shown/action.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Field } from '../shown/field.tsx';
import { moneyText } from '../shown/format.ts';
import { computePrice, type Service } from './queries.ts';

type Computed = Schemas['UsageEvent'];
type Logic = Service['pricingLogic'][number];

const columns: readonly Column<Logic['steps'][number]>[] = [
  { name: 'Step', show: ({ name, label }) => <bdi>{label ?? name}</bdi> },
  { name: 'Formula', show: ({ formula }) => <code>{formula}</code> },
];

/** The formulas of a service; a service without them costs what the rows of its card say. */
export const LogicSteps = ({ of }: { readonly of: readonly Logic[] }): ReactNode =>
  of.length === 0 ? null : (
    <Section title="Pricing logic">
      {of.map(({ id, name, usageType, priceOutput, steps }) => (
        <div key={id}>
          <DataTable
            caption={`${name}: the ${usageType.toLowerCase()} is what ${priceOutput} comes to`}
            columns={columns}
            rows={steps}
            keyOf={(step) => step.name}
          />
        </div>
      ))}
    </Section>
  );

/** What came out, from the card to the total. */
function Outcome({ of }: { readonly of: Computed }): ReactNode {
  if (of.ratedTransactions.length === 0) {
    return (
      <div role="alert" className="fault">
        <p>It would be {of.status}.</p>
        <p>
          {of.code}: <bdi>{of.reason}</bdi>
        </p>
      </div>
    );
  }
  return of.ratedTransactions.map(({ amount, currency, usageType, explanation }, index) => (
    <div key={index}>
      <h3>
        {usageType} of {moneyText(amount, currency)}
      </h3>
      {explanation === null ? null : <Charge explanation={explanation} />}
    </div>
  ));
}

/** Values of an event, and what it would cost by the prices in force; nothing is written. */
export function TryValues({ of }: { readonly of: Service }): ReactNode {
  const names = [...of.priceableAttributes, ...of.inputAttributes].map(({ name }) => name);
  const [account, setAccount] = useState('');
  const [day, setDay] = useState(() => new Date().toISOString().slice(0, 10));
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [computed, setComputed] = useState<{ readonly of: string; readonly event: Computed }>();
  const dimensions = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
  /** What was computed is told beside what it was computed of alone. */
  const given = JSON.stringify([account, day, dimensions]);
  return (
    <Section title="What an event would cost">
      <p>By the prices in force, after what the account has used. Nothing is written.</p>
      <div className="fields">
        <Field
          name="billingAccountRef"
          label="External id of the account"
          value={account}
          onChange={setAccount}
        />
        <Field name="eventTimestamp" label="Day" type="date" value={day} onChange={setDay} />
        {names.map((name) => (
          <Field
            key={name}
            name={`dimensions.${name}`}
            label={`Value of ${name}`}
            value={values[name] ?? ''}
            onChange={(value) => setValues((before) => ({ ...before, [name]: value }))}
          />
        ))}
      </div>
      <Action
        name="Compute it"
        lacks={
          account === ''
            ? 'Give the account first.'
            : Object.keys(dimensions).length === 0
              ? 'Give a value first.'
              : undefined
        }
        onDo={async () => ({
          of: given,
          event: await computePrice({ serviceId: of.id, account, day, dimensions }),
        })}
        told={(done) =>
          done.of === given && done.event.ratedTransactions.length > 0
            ? `It would be ${done.event.status}.`
            : ''
        }
        onDone={setComputed}
      />
      {computed?.of === given ? <Outcome of={computed.event} /> : null}
    </Section>
  );
}
