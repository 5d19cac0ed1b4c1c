import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

const example = async (name: string): Promise<object> =>
  JSON.parse(await readFile(new URL(`../../examples/${name}`, import.meta.url), 'utf8')) as object;

/** The lines of the example as messages. */
async function exampleUsage(serviceId: string) {
  const text = await readFile(new URL('../../examples/llm-usage.csv', import.meta.url), 'utf8');
  const [head = [], ...lines] = text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  return lines.map((values) => {
    const dimensions: Record<string, string> = {};
    const message: Record<string, unknown> = { serviceId, dimensions };
    for (const [index, name] of head.entries()) {
      const value = values[index] ?? '';
      if (name.startsWith('dimensions.')) dimensions[name.slice('dimensions.'.length)] = value;
      else message[name] = value;
    }
    return message;
  });
}

// spec/beyond.md R316
describe('the example catalog for language models', () => {
  const story = useStory({ startsOn: '2026-11-20' });
  const { tenant } = story;

  it('waits for the price of a new model, rates it by a filter, and shows the margin in totals', async () => {
    await story.account('chatter');
    const catalog = await example('llm-catalog.json');
    const { body: service } = await tenant.post(`${external}/services`, catalog).expect(201);
    const serviceId = service.id as string;
    const [first = '', second = '', third = ''] = await story.send(
      ...((await exampleUsage(serviceId)) as never[]),
    );
    // 12,000 x 0.000003 + 8,000 x 0.0000003 + 1,500 x 0.000015 = 0.036 + 0.0024 + 0.0225 = 0.0609;
    // x 1.2 = 0.07308.
    expect((await story.event(first)).ratedTransactions[0]).to.include({ amount: 0.07308 });
    // 4,000 x 0.00000025 + 900 x 0.000002 + 2 x 0.0012 = 0.001 + 0.0018 + 0.0024 = 0.0052; x 1.2.
    expect((await story.event(second)).ratedTransactions[0]).to.include({ amount: 0.00624 });
    expect(await story.event(third)).to.include({ status: 'rejected', code: 'NO_MATCHING_ROW' });
    const summary = await tenant.get('/v1/usage-events/summary').expect(200);
    expect(summary.body).to.include({ accepted: 3, rated: 2, rejected: 1, pending: 0 });

    const retry = async (): Promise<object> => {
      const body = { serviceId, code: 'NO_MATCHING_ROW' };
      return (await tenant.post('/v1/usage-events/retry', body).expect(200)).body as object;
    };
    expect(await retry()).to.include({ retried: 1, rated: 0, rejected: 1 });
    const prices = await example('llm-next-prices.json');
    const versions = `${external}/services/${serviceId}/rate-cards/USD/versions`;
    // A price that holds after the call is none for it.
    await tenant.post(versions, { ...prices, fromDate: '2099-02-01' }).expect(201);
    expect(await retry()).to.include({ retried: 1, rated: 0, rejected: 1 });
    await tenant.post(versions, prices).expect(201);
    expect(await retry()).to.include({ retried: 1, rated: 1, rejected: 0 });
    expect(await retry()).to.include({ retried: 0 });
    // 10,000 x 0.000002 + 2,000 x 0.00001 = 0.04; x 1.2.
    expect((await story.event(third)).ratedTransactions[0]).to.include({ amount: 0.048 });

    const totals = async (range: string, groupBy: string): Promise<Record<string, number>> => {
      const { body } = await tenant.get(`/v1/usage?${range}&groupBy=${groupBy}`).expect(200);
      const rows = body.data as { group: Record<string, string | null>; amount: number }[];
      return Object.fromEntries(rows.map(({ group, amount }) => [String(group[groupBy]), amount]));
    };
    // 0.0609 + 0.0052 = 0.0661 for the provider, and 20 % of it are the margin.
    const november = 'from=2026-11-01&to=2026-12-01';
    expect(await totals(november, 'attribute')).to.deep.equal({
      input_tokens: 0.037,
      cached_tokens: 0.0024,
      output_tokens: 0.0243,
      images: 0.0024,
      null: 0.01322,
    });
    expect(await totals(november, 'dimension:model')).to.deep.equal({
      'atlas-large': 0.07308,
      'atlas-small': 0.00624,
    });
    expect(await totals('from=2099-01-01&to=2099-02-01', 'dimension:model')).to.deep.equal({
      'atlas-next': 0.048,
    });
  });
});
