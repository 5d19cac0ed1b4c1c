import { expect } from 'chai';
import { RawConnection } from '../../support/http/raw-connection.js';
import { until } from '../../start/workbench.js';
import { useInstance } from '../../support/servers/use-instance.js';

const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe('connections', () => {
  const instance = useInstance({ maxConnections: 20 });

  const refusals = async (): Promise<number> => {
    const text = await instance.platform.metrics.registry.metrics();
    return Number(/^durabill_refusals_total\{reason="connections"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };

  it('are as many as MAX_CONNECTIONS allows; more are closed, counted, and find a place later', async () => {
    const open = Array.from({ length: 20 }, () => new RawConnection(instance.url));
    // Requests that have begun: idle connections would make room.
    for (const one of open) one.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n');
    const more = Array.from({ length: 5 }, () => new RawConnection(instance.url));
    await until(() => Promise.resolve(more.every(({ isClosed }) => isClosed)), 30_000, 'refusals');
    expect(open.some(({ isClosed }) => isClosed)).to.equal(false);
    expect(await refusals()).to.equal(5);
    for (const one of open) one.send('\r\n');
    for (const one of open) expect((await one.answer())?.status).to.equal(200);
    open[0]?.close();
    await until(
      async () => {
        const next = new RawConnection(instance.url);
        next.send(request);
        const answer = await next.answer().catch(() => undefined);
        next.close();
        return answer?.status === 200;
      },
      5_000,
      'a place',
    );
    for (const one of open) one.close();
  });
});
