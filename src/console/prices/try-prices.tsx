import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { isNumberText, type ExactJson } from '../api/exact-json.ts';
import { Section } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { Field } from '../shown/field.tsx';
import { tryPrices, type Guard } from './queries.ts';
import { areRates, Rows } from './rows.tsx';
import { SampleTotal } from './sample-total.tsx';

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The month before this one, up to its end. */
function lastMonth(): { readonly from: string; readonly to: string } {
  const now = new Date();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { from: dayOf(Date.UTC(year, month - 1, 1)), to: dayOf(Date.UTC(year, month, 1)) };
}

const isLimit = (text: string): boolean => text === '' || isNumberText(text);

const lackOf = (rows: readonly ExactJson[], limits: Guard): string | undefined =>
  !areRates(rows)
    ? 'Write each price as a number first.'
    : Object.values(limits).every(isLimit)
      ? undefined
      : 'Write each limit as a number first, or leave it out.';

/** How much the outcome may differ from what is in force. */
const Limits = ({
  limits,
  onChange,
}: {
  readonly limits: Guard;
  readonly onChange: (limits: Guard) => void;
}): ReactNode => (
  <div className="fields">
    <Field
      name="accountChangeMax"
      label="An account may change by at most (%)"
      type="number"
      value={limits.accountChangeMax}
      onChange={(accountChangeMax) => onChange({ ...limits, accountChangeMax })}
    />
    <Field
      name="totalDecreaseMax"
      label="The total may fall by at most (%)"
      type="number"
      value={limits.totalDecreaseMax}
      onChange={(totalDecreaseMax) => onChange({ ...limits, totalDecreaseMax })}
    />
  </div>
);

/** Other numbers in a card, and what they would have made of what was used. */
export function Try({
  serviceId,
  currency,
  inForce,
}: {
  readonly serviceId: string;
  readonly currency: string;
  readonly inForce: readonly ExactJson[];
}): ReactNode {
  const navigate = useNavigate();
  const [rows, setRows] = useState(inForce);
  const [name, setName] = useState(`Other prices in ${currency}`);
  const [{ from, to }, setTime] = useState(lastMonth);
  const [limits, setLimits] = useState<Guard>({ accountChangeMax: '', totalDecreaseMax: '' });
  const tried = { serviceId, currency, from, to, rows };
  return (
    <Section title={`Try other prices in ${currency}`}>
      <p>
        What was used is rated again, beside the books. Nothing is changed by it.{' '}
        <Link to="/prices" search={{}} hash="tried">
          What was tried before
        </Link>
      </p>
      <Rows rows={rows} inForce={inForce} onChange={setRows} />
      <div className="fields">
        <Field name="name" label="Name of this try" value={name} onChange={setName} />
        <Field
          name="from"
          label="Usage from"
          type="date"
          value={from}
          onChange={(day) => setTime({ from: day, to })}
        />
        <Field
          name="to"
          label="Before"
          type="date"
          value={to}
          onChange={(day) => setTime({ from, to: day })}
        />
      </div>
      <Limits limits={limits} onChange={setLimits} />
      <SampleTotal of={tried} />
      <Action
        operation="executeWorkflow"
        name="Run over this time"
        isPrimary
        lacks={lackOf(rows, limits)}
        onDo={() => tryPrices(name, tried, limits)}
        onDone={({ executionId }) =>
          void navigate({
            to: '/prices/tried/$repricingId',
            params: { repricingId: executionId },
            search: {},
          })
        }
      />
    </Section>
  );
}
