import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { openTracing, type Tracing, type TracingSettings } from '../../src/platform/tracing.js';
import { openCollector, type Collector } from '../support/servers/collector.js';

const sampledParent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('tracing', () => {
  let collector: Collector;
  before(async () => {
    collector = await openCollector();
  });
  after(() => collector.close());

  const open = async (changes: Partial<TracingSettings>): Promise<Tracing> => {
    const tracing = await openTracing({
      endpoint: `${collector.url}/`,
      protocol: 'http/json',
      headers: {},
      resource: {},
      ratio: 1,
      isParentHeeded: true,
      ...changes,
    });
    if (!tracing) throw new Error('There is no tracing.');
    return tracing;
  };

  // What is kept of a trace that begins here, and of one whose caller keeps it.
  const samplings: [string, Partial<TracingSettings>, string[]][] = [
    ['all', {}, ['own', 'called']],
    ['none but what the caller keeps', { ratio: 0 }, ['called']],
    ['none', { ratio: 0, isParentHeeded: false }, []],
  ];
  for (const [name, settings, kept] of samplings) {
    it(`keeps ${name}`, async () => {
      const tracing = await open(settings);
      const spans: string[] = [];
      for (const [span, parent] of [['own'], ['called', sampledParent]] as const) {
        const full = `${span} of ${name}`;
        await tracing.inSpan({ name: full, parent }, () => Promise.resolve(spans.push(full)));
      }
      await tracing.close();
      const arrived = collector.spans.map((span) => span.name);
      expect(spans.filter((span) => arrived.includes(span))).to.deep.equal(
        kept.map((span) => `${span} of ${name}`),
      );
    });
  }

  it('begins no span where nothing is under way, and hands on where it is', async () => {
    const tracing = await open({});
    expect(tracing.begin({ name: 'poll' })).to.equal(undefined);
    expect([tracing.current(), tracing.ids()]).to.deep.equal([undefined, {}]);
    await tracing.under(sampledParent, () => {
      expect(tracing.current()).to.equal(sampledParent);
      return Promise.resolve();
    });
    await tracing.close();
  });

  it('says so when a collector refuses, in one line', async () => {
    const refusing = createServer((_request, response) => response.writeHead(400).end());
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const { port } = refusing.address() as AddressInfo;
    const tracing = await open({ endpoint: `http://127.0.0.1:${port}` });
    const told = new Promise<string>((resolve) => tracing.complainTo(resolve));
    await tracing.inSpan({ name: 'lost' }, () => Promise.resolve());
    expect(await told).to.match(/^cannot deliver traces: .*Bad Request/);
    await tracing.close();
    await new Promise((resolve) => refusing.close(resolve));
  }).timeout(10_000);
});
