import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  openWebhookSender,
  webhookDefaults,
  type WebhookSender,
} from '../../src/adapters/webhooks/webhook-sender.js';
import { isSigned, signWebhook } from '../../src/adapters/webhooks/webhook-signature.js';
import { openReceiver, verify, type Receiver } from '../support/servers/receiver.js';

const guarded = { ...webhookDefaults, allowsPrivateAddresses: false, timeoutMs: 2_000 };
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('addresses of webhooks', () => {
  let receiver: Receiver;
  let port: number;
  /** What names are said to be, one answer after the other; the last one stays. */
  let names: Record<string, string[]>;
  let sender: WebhookSender;
  before(async () => {
    receiver = await openReceiver();
    port = receiver.port;
  });
  after(() => receiver.close());
  beforeEach(() => {
    names = {};
    sender = openWebhookSender(guarded, {
      names: (host) => {
        const answers = names[host] ?? [];
        return Promise.resolve([(answers.length > 1 ? answers.shift() : answers[0]) ?? '']);
      },
    });
  });
  afterEach(() => sender.close());

  const send = (url: string) => sender.send({ url, id: 'id', body: '{}', secrets: [secret] });

  const literals = [
    ['this machine', '127.0.0.1'],
    ['this machine in decimal', '2130706433'],
    ['this machine in octal', '0177.0.0.1'],
    ['this machine in hexadecimal', '0x7f.1'],
    ['this machine in short', '127.1'],
    ['no address', '0.0.0.0'],
    ['IPv6 of this machine', '[::1]'],
    ['IPv4 mapped into IPv6', '[::ffff:127.0.0.1]'],
    ['IPv4 mapped into IPv6, in hexadecimal', '[::ffff:7f00:1]'],
    ['IPv4 behind NAT64', '[64:ff9b::7f00:1]'],
    ['a private network', '10.1.2.3'],
    ['another private network', '192.168.1.1'],
    ['a third private network', '172.16.0.1'],
    ['the metadata of clouds', '169.254.169.254'],
    ['a shared network', '100.64.0.1'],
    ['a local address of IPv6', '[fe80::1]'],
    ['a unique local address of IPv6', '[fd00::1]'],
    ['IPv4 in IPv6 as it was meant first', '[::7f00:1]'],
    ['the agent of Azure', '168.63.129.16'],
    ['the metadata of Alibaba', '100.100.100.200'],
    ['the metadata of Amazon in IPv6', '[fd00:ec2::254]'],
    ['the metadata of Oracle', '192.0.0.192'],
    ['a private network behind NAT64', '[64:ff9b::a00:1]'],
    ['a NAT64 of a private network', '[64:ff9b:1::5db8:d822]'],
    ['a tunnel 6to4 to this machine', '[2002:7f00:1::1]'],
    ['a tunnel Teredo', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]'],
    ['documentation in IPv6', '[2001:db8::1]'],
    ['newer documentation in IPv6', '[3fff::1]'],
    ['IPv6 that nobody was given', '[4000::1]'],
    ['more IPv6 that nobody was given', '[1::1]'],
    ['segment routing', '[5f00::1]'],
    ['a multicast address', '224.0.0.1'],
    ['a multicast address of IPv6', '[ff02::1]'],
    ['a network of benchmarks', '198.18.0.1'],
    ['documentation', '203.0.113.9'],
    ['a broadcast', '255.255.255.255'],
    ['a reserved address', '240.0.0.1'],
    ['an address of this network', '0.1.2.3'],
    ['this machine with a dot at the end', '127.0.0.1.'],
    ['the name of this machine', 'localhost'],
    ['the name of this machine with a dot', 'localhost.'],
    ['a name below that of this machine', 'x.localhost'],
  ] as const;
  for (const [name, host] of literals) {
    it(`refuse ${name} (${host}) when it is registered and when it is sent to`, async () => {
      if (/localhost/.test(host)) sender = openWebhookSender(guarded);
      const url = `http://${host}:${port}/hook`;
      expect(await sender.findRefusal(url)).to.match(/is not public\.$/);
      const answer = await send(url);
      expect(answer).to.include({ isOk: false, statusCode: null });
      expect(answer.error).to.match(/is not public\.$/);
      expect(receiver.received).to.be.empty;
    });
  }

  it('refuse a name that leads to this machine', async () => {
    names['inside.example'] = ['127.0.0.1'];
    const url = `http://inside.example:${port}/hook`;
    expect(await sender.findRefusal(url)).to.equal('The address 127.0.0.1 is not public.');
    expect((await send(url)).error).to.equal(
      'The address 127.0.0.1 of inside.example is not public.',
    );
    expect(receiver.received).to.be.empty;
  });

  it('refuse a name that leads elsewhere once it is registered', async () => {
    names['turncoat.example'] = ['93.184.216.34', '::ffff:127.0.0.1'];
    const url = `http://turncoat.example:${port}/hook`;
    expect(await sender.findRefusal(url)).to.equal(undefined);
    expect((await send(url)).error).to.equal(
      'The address ::ffff:127.0.0.1 of turncoat.example is not public.',
    );
    expect(receiver.received).to.be.empty;
  });

  it('are not left by a redirect', async () => {
    const redirecting = createServer((_request, response) => {
      response.writeHead(307, { location: receiver.url }).end();
    });
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    const { port: at } = redirecting.address() as AddressInfo;
    const open = openWebhookSender({ ...guarded, allowsPrivateAddresses: true });
    const url = `http://127.0.0.1:${at}/`;
    const answer = await open.send({ url, id: 'id', body: '{}', secrets: [secret] });
    expect(answer).to.include({
      isOk: false,
      statusCode: 307,
      error: 'The answer was a redirect (307), which is not followed.',
    });
    expect(receiver.received).to.be.empty;
    await open.close();
    redirecting.close();
  });

  it('that are public are not refused', async () => {
    const hosts = ['93.184.216.34', '[2606:2800:220:1::1]', '[64:ff9b::5db8:d822]', '169.253.0.1'];
    for (const host of hosts) {
      expect(await sender.findRefusal(`https://${host}/hook`), host).to.equal(undefined);
    }
  });

  it('of an answer without end cost no more than its beginning', async () => {
    const endless = createServer((_request, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    const { port: at } = endless.address() as AddressInfo;
    const open = openWebhookSender({ ...guarded, allowsPrivateAddresses: true });
    const url = `http://127.0.0.1:${at}/`;
    const answer = await open.send({ url, id: 'id', body: '{}', secrets: [secret] });
    expect(answer).to.include({ isOk: true, statusCode: 200, error: null });
    expect(answer.answer).to.equal('x'.repeat(4096));
    expect(answer.durationMs).to.be.lessThan(guarded.timeoutMs);
    await open.close();
    endless.closeAllConnections();
    endless.close();
  });
});

describe('deliveries of webhooks', () => {
  // spec/platform.md R41
  it('are tried for more than a day, the first time after five seconds', () => {
    const { delaysMs } = webhookDefaults;
    expect(delaysMs.slice(0, 2)).to.deep.equal([0, 5_000]);
    expect([...delaysMs].sort((one, other) => one - other)).to.deep.equal(delaysMs);
    const total = delaysMs.reduce((sum, delay) => sum + delay, 0);
    expect(total).to.be.greaterThan(24 * 3_600_000);
  });
});

describe('signatures of webhooks', () => {
  // Of now, not of when this file was loaded: a verifier refuses what is old.
  let content = { id: 'msg_1', timestamp: 0, body: '{"a":1}' };
  beforeEach(() => {
    content = { ...content, timestamp: Math.floor(Date.now() / 1000) };
  });
  const received = (signature: string) => ({
    ...content,
    signature,
    path: '/',
    payload: { event: '', timestamp: '', data: null },
  });

  for (const [name, key] of [
    ['a secret of the recommended form', secret],
    ['any text', 'geheim, größer als 7 Bit'],
  ] as const) {
    // spec/platform.md R40
    it(`by ${name} are what standardwebhooks expects`, () => {
      const header = signWebhook([key], content);
      expect(verify(key, received(header))).to.deep.equal({ a: 1 });
      expect(isSigned(key, content, header)).to.equal(true);
      expect(isSigned(key, { ...content, body: '{"a":2}' }, header)).to.equal(false);
      expect(isSigned('another', content, header)).to.equal(false);
    });
  }

  it('by two secrets satisfy who knows one of them', () => {
    const header = signWebhook([secret, 'old'], content);
    for (const key of [secret, 'old']) {
      expect(verify(key, received(header))).to.deep.equal({ a: 1 });
      expect(isSigned(key, content, header)).to.equal(true);
    }
  });
});
