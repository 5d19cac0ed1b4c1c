import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { asOwner } from '../support/servers/rows.js';
import { useStory } from '../support/story/story.js';

/** What an account would pay with other prices, charge by charge. */
describe('charges of a what-if', () => {
  const story = useStory({ startsOn: '2026-04-02' });
  const { tenant } = story;

  // spec/beyond.md R595
  it('are listed by the size of their difference, the largest first, page by page', async () => {
    const acme = await story.account('acme');
    const serviceId = await story.service('Calls');
    const sizes = ['50', '300', '10', '0', '200', '100'];
    await story.send(
      ...sizes.map((api_calls) => usage('acme', serviceId, { dimensions: { api_calls } })),
    );
    // At 0.01, and for nothing.
    const row = { priceDimName: 'api_calls', label: 'API calls', priceMethod: 'QUANTITY' };
    const card = { kind: 'rateCard', serviceId, currency: 'USD', rows: [{ ...row, unitRate: 0 }] };
    const data = { name: 'Try', from: '2026-03-01', to: '2026-04-01', changes: [card] };
    const { body } = await tenant.post('/v1/workflows/reprice/execute', { data }).expect(200);
    const path = `/v1/repricings/${body.output.repricingId}/accounts/${acme}/charges`;
    const differences = async (query: string): Promise<unknown[]> =>
      (await tenant.get(`${path}?${query}`).expect(200)).body.data.map(
        ({ difference }: { readonly difference: number }) => difference,
      );
    const sorted = [-3, -2, -1, -0.5, -0.1, 0];
    expect(await differences('explain=false')).to.have.members(sorted);
    expect(await differences('explain=false')).to.not.deep.equal(sorted);
    expect(await differences('sort=difference:desc')).to.deep.equal(sorted);
    expect(await differences('sort=difference:desc&explain=false')).to.deep.equal(sorted);
    const page = await differences('sort=difference:desc&limit=2&offset=1');
    expect(page).to.deep.equal(sorted.slice(1, 3));
    await tenant.get(`${path}?sort=difference`).expect(400);
    // As if it had 50,001.
    await asOwner(story.instance.databaseUrl, (client) =>
      client.query(
        `insert into repricing_charge select tenant_id, repricing_id, account_id, 6, 49995, '[]'
         from repricing_charge where account_id = $1`,
        [acme],
      ),
    );
    const refused = await tenant.get(`${path}?sort=difference:desc`).expect(400);
    expect(refused.body.error.message).to.include("'sort' is for at most 50000 charges");
    expect(await differences('limit=6')).to.have.members(sorted);
  });
});
