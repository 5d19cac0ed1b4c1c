import { expect } from 'chai';
import { freePort } from '../../src/platform/free-port.js';
import { tellFigures } from '../start/outcome.js';
import { openReceiver, verify, type Receiver } from '../support/servers/receiver.js';
import { makeFolder, removeFolder, startProgram, until, type Started } from '../start/workbench.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const durabill = (...args: string[]): [string, string[]] => [
  'npm',
  ['run', '--silent', 'durabill', '--', ...args],
];

/** Webhooks of the whole product, as an operator and a developer meet them. */
describe('webhooks of a started product', function () {
  // Two starts of the whole product, on a machine that others use as well.
  this.timeout(480_000);
  let folder = '';
  let port = '';
  let token = '';
  let things = '';
  let instance: Started | undefined;
  let receiver: Receiver;

  const launch = async (): Promise<void> => {
    const started = startProgram('npm', ['start', '--silent'], { PORT: port, DATA_DIR: folder });
    instance = started;
    await until(
      () => started.output().includes('Durabill is ready') || started.child.exitCode !== null,
      90_000,
      'the banner',
    );
    expect(started.output(), started.output()).to.contain('Durabill is ready');
  };
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.ok, text).to.equal(true);
    return JSON.parse(text) as { id: string; data: { id: string }[] };
  };

  before(async () => {
    folder = await makeFolder();
    port = String(await freePort());
    receiver = await openReceiver();
    await launch();
    const env = { DATA_DIR: folder };
    const printed = startProgram(
      ...durabill('token', '--tenant', 'hooks', '--create-tenant', '--roles', 'ADMIN'),
      env,
    );
    expect(await printed.ended).to.equal(0);
    token = printed.output().trim();
    const type = await send('POST', '/v1/mobjects', { name: 'thing' });
    things = `/v1/mobjects/${type.id}/mdata`;
  });
  after(async () => {
    instance?.child.kill('SIGKILL');
    await receiver.close();
    await removeFolder(folder);
  });

  it('are shown by `durabill webhook listen`, verified, which removes its own in the end', async () => {
    const listening = startProgram(...durabill('webhook', 'listen', '--tenant', 'hooks'), {
      DATA_DIR: folder,
    });
    await until(() => listening.output().includes('listening as webhook'), 60_000, 'listening');
    expect((await send('GET', '/v1/webhooks')).data).to.have.length(1);
    const { id } = await send('POST', things, { data: { price: 1.25 } });
    await until(() => listening.output().includes(`"id":"${id}"`), 30_000, 'the delivery');
    expect(listening.output()).to.match(/^[0-9:.]{12} mdata\.created [0-9a-f-]{36} verified$/m);
    // In a pipe there are no colours.
    expect(listening.output()).not.to.contain('\u001B');
    process.kill(-(listening.child.pid ?? 0), 'SIGINT');
    await listening.ended;
    expect(listening.output()).to.contain('the webhook is removed');
    expect((await send('GET', '/v1/webhooks')).data).to.deep.equal([]);
  });

  it('arrive though the receiver is down and the product is killed', async () => {
    await send('POST', '/v1/webhooks', { url: receiver.url, events: ['mdata.created'], secret });
    const { port: at } = receiver;
    await receiver.close();
    const ids = new Set<string>();
    for (let n = 0; n < 12; n += 1) ids.add((await send('POST', things, { data: { n } })).id);
    process.kill(-(instance?.child.pid ?? 0), 'SIGKILL');
    await instance?.ended;
    receiver = await openReceiver({ port: at });
    await launch();
    const told = () => receiver.received.map(({ payload }) => (payload.data as { id: string }).id);
    await receiver.until(() => new Set(told()).size === ids.size, 120_000);
    expect(new Set(told())).to.deep.equal(ids);
    const webhookIds = new Map<string, string>();
    for (const delivery of receiver.received) {
      verify(secret, delivery);
      const { id } = delivery.payload.data as { id: string };
      // However often an event comes, it has one id.
      expect(webhookIds.get(id) ?? delivery.id).to.equal(delivery.id);
      webhookIds.set(id, delivery.id);
    }
    expect(new Set(webhookIds.values()).size).to.equal(ids.size);
    tellFigures({
      kills: 1,
      events: ids.size,
      deliveries: receiver.received.length,
      lost: ids.size - webhookIds.size,
    });
  });
});
