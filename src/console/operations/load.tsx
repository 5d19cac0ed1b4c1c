import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Section } from '../frame/page.tsx';
import { quantityText } from '../shown/format.ts';
import { Facts, Instant } from '../shown/values.tsx';
import type { Status } from './queries.ts';

type Used = Status['limits']['requests'];

const usedText = ({ used, limit }: Used): string =>
  `${quantityText(used)} of ${quantityText(limit)}`;

/** Whether this tenant sends more than it may: some of it was refused. */
export const isLoud = ({ limits }: Status): boolean => limits.refused !== '0';

/** How much the tenant sends, beside what it may send. */
export const Load = ({ of }: { readonly of: Status }): ReactNode => {
  const { requests, usageEvents, refused, refusedSince } = of.limits;
  return (
    <Section title="Load">
      {isLoud(of) ? (
        <div className="fault">
          <p>
            More is sent than this tenant may send, and some of it was refused. Whoever sends waits
            as <code>Retry-After</code> says and sends usage in batches; the{' '}
            <Link to="/access-keys">access keys</Link> say which programs were active last. Whoever
            runs this instance sets the plan: <code>durabill tenant plan</code>.
          </p>
        </div>
      ) : null}
      <p>
        The plan limits requests for workflows, their executions, webhooks and records of types of
        your own, those of this console among them; no others are counted. Counts are of this tenant
        at all processes, whichever key was sent.
      </p>
      <Facts
        of={[
          ['Limited requests in this minute', usedText(requests)],
          [
            'Usage events in this minute',
            usageEvents === null ? 'without a limit' : usedText(usageEvents),
          ],
          ['Refused requests', quantityText(refused)],
          ['Refused since', <Instant key="since" at={refusedSince} />],
        ]}
      />
    </Section>
  );
};
