import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Section } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { Loaded } from '../shown/loaded.tsx';
import { Facts, Instant, Status } from '../shown/values.tsx';
import { removeSchedule, schedules, setSchedule, type Schedule } from './queries.ts';

type Job = Schedule['job'];
type Every = Schedule['every'];

const jobs: readonly { readonly job: Job; readonly title: string; readonly done: string }[] = [
  { job: 'billing', title: 'Billing', done: 'billed' },
  { job: 'audit', title: 'Audit of usage', done: 'audited' },
];

const periods: readonly (readonly [every: Every, words: string, days: string])[] = [
  ['Daily', 'day', 'Every day'],
  ['Weekly', 'week', 'Every Monday'],
  ['Monthly', 'month', 'On the first day of every month'],
];

const hours = Array.from({ length: 24 }, (_each, hour) => String(hour));
const hourText = (hour: string): string => `${hour.padStart(2, '0')}:00 UTC`;

/** What a schedule does, in words. */
function scheduleText({ every, hour }: Pick<Schedule, 'every' | 'hour'>, done: string): string {
  const [, period, days] = periods.find(([name]) => name === every) ?? ['', '', every];
  return `${days} at ${hourText(hour)} the ${period} before is ${done}.`;
}

/** How it stands, and what is done next. */
const WhatIsSet = ({
  of,
  done,
  onRemoved,
}: {
  readonly of: Schedule;
  readonly done: string;
  readonly onRemoved: () => void;
}): ReactNode => (
  <>
    <p>{scheduleText(of, done)}</p>
    <Facts
      of={[
        ['Status', <Status key="status" name={of.paused ? 'paused' : 'active'} />],
        ['Next', <Instant key="next" at={of.nextAt} />],
        [
          `What is ${done} then`,
          of.periodStart === null ? 'nothing' : `${of.periodStart} to ${of.periodEnd}`,
        ],
      ]}
    />
    <Action
      operation="setSchedule"
      name={of.paused ? `Let ${of.job} go on` : `Pause ${of.job}`}
      onDo={() => setSchedule(of.job, { paused: !of.paused })}
      told={({ paused }) => (paused ? 'It is paused.' : 'It goes on.')}
    />
    <Action
      operation="deleteSchedule"
      name={`Remove the schedule of ${of.job}`}
      isDangerous
      onDo={() => removeSchedule(of.job)}
      onDone={onRemoved}
    />
  </>
);

/** One that another than us has set: what it does is not known here. */
const WhatIsUnreadable = ({
  job,
  done,
  onRemoved,
}: {
  readonly job: Job;
  readonly done: string;
  readonly onRemoved: () => void;
}): ReactNode => (
  <>
    <p>
      There is a schedule that was changed in Temporal itself and cannot be read: by it, something
      may be {done} at any time. Remove it, and set it anew.
    </p>
    <Action
      operation="deleteSchedule"
      name={`Remove the schedule of ${job}`}
      isDangerous
      onDo={() => removeSchedule(job)}
      onDone={onRemoved}
    />
  </>
);

/** Another time, said in words before it is set. */
function SetTime({
  job,
  done,
  of,
}: {
  readonly job: Job;
  readonly done: string;
  readonly of: Schedule | undefined;
}): ReactNode {
  const [every, setEvery] = useState<Every>(of?.every ?? 'Monthly');
  const [hour, setHour] = useState(of?.hour ?? '1');
  return (
    <>
      <div className="fields">
        <label>
          <span>After each</span>
          <select
            name="every"
            value={every}
            onChange={({ target }) =>
              setEvery(periods.find(([name]) => name === target.value)?.[0] ?? every)
            }
          >
            {periods.map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>At</span>
          <select name="hour" value={hour} onChange={({ target }) => setHour(target.value)}>
            {hours.map((each) => (
              <option key={each} value={each}>
                {hourText(each)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p>{scheduleText({ every, hour }, done)}</p>
      <Action
        operation="setSchedule"
        name={`Set the time of ${job}`}
        lacks={
          every === of?.every && hour === of.hour ? 'This is its time: choose another.' : undefined
        }
        onDo={() => setSchedule(job, { every, hour })}
        told={() => 'It is set.'}
      />
    </>
  );
}

/** A job with its schedule, if it has one. */
function OfJob({
  of,
  job,
  title,
  done,
  isUnreadable,
}: (typeof jobs)[number] & {
  readonly of: Schedule | undefined;
  readonly isUnreadable: boolean;
}): ReactNode {
  const [said, setSaid] = useState('');
  const onRemoved = () => setSaid('It is removed.');
  return (
    <section className="card" aria-label={title}>
      <h3>{title}</h3>
      {of ? (
        <WhatIsSet of={of} done={done} onRemoved={onRemoved} />
      ) : isUnreadable ? (
        <WhatIsUnreadable job={job} done={done} onRemoved={onRemoved} />
      ) : (
        <p>Nothing is {done} by itself: there is no schedule.</p>
      )}
      <p role="status" className="good">
        {of === undefined && !isUnreadable ? said : ''}
      </p>
      {isUnreadable ? null : (
        <details>
          <summary>
            {of === undefined ? `Set a schedule of ${job}` : `Another time of ${job}`}
          </summary>
          <SetTime job={job} done={done} of={of} />
        </details>
      )}
    </section>
  );
}

/** When billing runs and audits begin by themselves. */
export function Schedules(): ReactNode {
  const query = useQuery(schedules);
  return (
    <Section title="By itself">
      <Loaded query={query}>
        {({ schedules: all, unreadable }) => (
          <div className="sides">
            {jobs.map((each) => (
              <OfJob
                key={each.job}
                {...each}
                of={all.find(({ job }) => job === each.job)}
                isUnreadable={unreadable.includes(each.job)}
              />
            ))}
          </div>
        )}
      </Loaded>
    </Section>
  );
}
