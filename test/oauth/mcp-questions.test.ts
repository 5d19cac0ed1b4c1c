import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { estimateTokens } from '../../src/kernel/text/token-estimate.js';
import { runBilling } from '../support/billing/billing-run.js';
import type { TestTenant } from '../support/servers/instance.js';
import {
  createAccount,
  createService,
  meteredService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const tokenizer = new Tiktoken(o200k);
const countTokens = (text: string): number => tokenizer.encode(text).length;

/** A conversation with the server: every call is counted, and so is what its answer costs. */
class Conversation {
  readonly client = new Client({ name: 'assistant', version: '1.0.0' });
  readonly costs: number[] = [];

  static async open(url: string, { token }: TestTenant): Promise<Conversation> {
    const conversation = new Conversation();
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    await conversation.client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }),
    );
    return conversation;
  }

  async call(name: string, given: Record<string, unknown>) {
    const result = await this.client.callTool({ name, arguments: given });
    const [{ text }] = result.content as [{ text: string }];
    expect(result.isError, text).to.equal(undefined);
    // What the server thinks is never too little, and not much too much.
    const ratio = estimateTokens(text) / countTokens(text);
    expect(ratio, text.slice(0, 1_000)).to.be.within(1, 1.6);
    this.costs.push(countTokens(text));
    return JSON.parse(text);
  }
}

describe('questions that an assistant answers over MCP', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let talk: Conversation;
  let invoiceId: string;
  before(async () => {
    await createAccount(tenant, 'acme');
    await createAccount(tenant, 'initech');
    const serviceId = await createService(tenant, 'Calls', meteredService);
    const on = (date: string, api_calls: string, externalTransactionId: string) =>
      usage('acme', serviceId, {
        eventTimestamp: `${date}T12:00:00Z`,
        externalTransactionId,
        dimensions: { api_calls },
      });
    // February: 3,000 calls cost 1,000 x 0 + 2,000 x 0.02 = 40.
    await send(tenant, on('2026-02-10', '3000', 'feb'));
    // March: 9,000 in one event and then 300 of 20 each, 15,000 in all: 9,000 x 0.02 + 5,000 x 0.01 = 230.
    await send(tenant, on('2026-03-02', '9000', 'mar-large'));
    await tenant
      .post(
        '/v1/ingest/usage/batch',
        Array.from({ length: 300 }, (_none, index) => ({
          message: on('2026-03-20', '20', `mar-${index}`),
        })),
      )
      .expect(200);
    await waitUntilRated(tenant, 302);
    await runBilling(tenant, '2026-02-01', '2026-02-28');
    const march = await runBilling(tenant, '2026-03-01', '2026-03-31');
    invoiceId = march.invoiceIds[0] ?? '';
  });
  beforeEach(async () => {
    talk = await Conversation.open(instance.url, tenant);
  });
  afterEach(() => talk.client.close());

  it('are asked after less than 5,000 tokens of tools', async () => {
    const { tools } = await talk.client.listTools();
    expect(countTokens(JSON.stringify({ tools }))).to.be.below(5_000);
    expect(talk.client.getInstructions()).to.match(/explainInvoice/);
    expect(countTokens(talk.client.getInstructions() ?? '')).to.be.below(400);
  });

  it('why is this invoice so high: two calls', async () => {
    const { items } = await talk.call('listInvoices', { accountId: 'acme' });
    const { summary } = await talk.call('explainInvoice', { invoiceId: items[0].invoiceNo });
    expect(items[0].id).to.equal(invoiceId);
    const { previous, largestEvents } = summary;
    expect(previous).to.deep.include({ amount: 40, change: 190, changePercent: 475 });
    expect(previous.changes).to.have.length(1);
    expect(previous.changes[0]).to.include({
      amountBefore: 40,
      amount: 230,
      change: 190,
      volumeBefore: 3000,
      volume: 15_000,
    });
    const [item] = summary.items;
    expect(item).to.include({ amount: 230, percent: 100, volume: 15_000 });
    expect(item.rows).to.have.length(1);
    expect(item.rows[0]).to.include({ label: 'API calls', transactions: 301, amount: 230 });
    const charged = item.tiers.map((tier: { volume: number; amount: number }) => [
      tier.volume,
      tier.amount,
    ]);
    expect(charged).to.deep.equal([
      [1000, 0],
      [9000, 180],
      [5000, 50],
    ]);
    // 8,000 of the 9,000 calls are paid: 160. Of the others, those before 10,000 cost 0.4 each.
    const amounts = largestEvents.map(({ amount }: { amount: number }) => amount);
    expect(amounts).to.deep.equal([160, 0.4, 0.4, 0.4, 0.4]);
    expect(largestEvents[0].externalTranId).to.equal('mar-large');
    expect(talk.costs).to.have.length.of.at.most(3);
    expect(Math.max(...talk.costs)).to.be.below(4_000);
  });

  it('what with twice the usage: three calls', async () => {
    const { summary } = await talk.call('explainInvoice', { invoiceId });
    const { message } = await talk.call('getUsageEvent', {
      id: summary.largestEvents[0].usageEventId,
    });
    // All of March twice, as one event in a month in which the tiers begin at zero.
    const twice = {
      ...message,
      externalTransactionId: 'what-if',
      eventTimestamp: '2026-06-15T12:00:00Z',
      dimensions: { api_calls: String(summary.items[0].volume * 2) },
    };
    const [simulated] = await talk.call('simulateUsage', { body: [{ message: twice }] });
    // 30,000 calls: 9,000 x 0.02 + 20,000 x 0.01 = 380.
    expect(simulated.ratedTransactions[0].amount).to.equal(380);
    expect(simulated.ratedTransactions[0].explanation.rows[0].tiers).to.have.length(3);
    expect(talk.costs).to.have.length.of.at.most(3);
    expect(Math.max(...talk.costs)).to.be.below(4_000);
  });

  it('shows the detail of an item to who asks for it', async () => {
    const { summary, ...brief } = await talk.call('explainInvoice', { invoiceId });
    expect(brief.items).to.deep.equal([]);
    const given = { invoiceId, itemId: summary.items[0].id, limit: 2, summaryOnly: false };
    const { items } = await talk.call('explainInvoice', given);
    expect(items).to.have.length(1);
    expect(items[0].transactions).to.have.length(2);
    expect(items[0].transactions[0].explanation.rows[0].tiers).to.not.be.empty;
    const other = { invoiceId, itemId: '01939c6e-7a00-7000-8000-00000000dead' };
    const refused = await talk.client.callTool({ name: 'explainInvoice', arguments: other });
    expect(JSON.stringify(refused)).to.include('names no item of this invoice');
  });

  it('gives no answer of more than 4,000 tokens, and says what is missing', async () => {
    const page = await talk.call('listUsageEvents', { limit: 1000 });
    expect(page.total).to.equal(302);
    expect(page.items.length).to.be.within(5, 301);
    expect(page.next).to.deep.equal({ offset: page.items.length });
    expect(page.note).to.match(/Only the first \d+ of 302.*maxTokens/);
    // The rest of them is not even read, and said to be there.
    const asked = await talk.call('listUsageEvents', { limit: 301, offset: 1 });
    expect(asked.note).to.match(/Only the first \d+ of 301/);
    expect(asked.next).to.deep.equal({ offset: 1 + asked.items.length });
    const charges = await talk.call('listRatedTransactions', { page: 1, size: 20 });
    const { page: next, size } = charges.next;
    expect(size).to.equal(charges.items.length);
    expect(next * size).to.equal(20 + size);
    const detail = await talk.call('explainInvoice', {
      invoiceId,
      limit: 1000,
      summaryOnly: false,
    });
    expect(detail.leftOut['items[].transactions']).to.be.greaterThan(250);
    expect(detail.note).to.match(/maxTokens/);
    expect(Math.max(...talk.costs)).to.be.below(4_000);
    const whole = await talk.call('listUsageEvents', { limit: 1000, maxTokens: 200_000 });
    expect(whole.items).to.have.length(302);
    const short = await talk.call('listUsageEvents', { limit: 1000, maxTokens: 600 });
    expect(short.items).to.not.be.empty;
    expect(talk.costs.at(-1)).to.be.below(600);
  });
});
