import { expect } from 'chai';
import { ClientAddresses } from '../../src/access/client-address.js';

describe('from where a request comes', () => {
  const trusted = ['10.0.0.0/8', '127.0.0.1', 'fd00::/8'];
  const cases: [name: string, remote: string, forwarded: string, group: string][] = [
    ['a client without a proxy', '203.0.113.7', '', '203.0.113.7'],
    ['a client that claims another', '203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['behind a proxy', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['what the client claimed to a proxy', '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['behind two proxies', '10.1.2.3', '1.1.1.1, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
    ['a proxy of its own', '10.1.2.3', '', '10.1.2.3'],
    ['nonsense from a proxy', '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
    ['IPv4 within IPv6', '::ffff:203.0.113.7', '', '203.0.113.7'],
    ['a proxy in IPv6', 'fd00::1', '[2001:db8:1:2:3:4:5:6]', '2001:db8:1:2::/64'],
    ['a network of IPv6', '2001:db8:1:2:ffff::1', '', '2001:db8:1:2::/64'],
    ['a zone of IPv6', 'fe80::1%eth0', '', 'fe80::/64'],
    ['loopback', '::1', '', '::1'],
    ['none', '', '', 'unknown'],
  ];
  for (const [name, remote, forwarded, group] of cases) {
    it(name, () => {
      expect(new ClientAddresses(trusted).find(remote, forwarded).group).to.equal(group);
    });
  }

  it('believes nobody unless told', () => {
    const found = new ClientAddresses().find('127.0.0.1', '198.51.100.1');
    expect(found).to.deep.equal({
      group: '127.0.0.1',
      isLoopback: true,
      isProxy: false,
      registrant: '127.0.0.1 for 198.51.100.1',
    });
  });

  it('knows proxies and this machine', () => {
    const clients = new ClientAddresses(trusted);
    expect(clients.find('10.0.0.1')).to.include({ isProxy: true, isLoopback: false });
    expect(clients.find('::1')).to.include({ isProxy: false, isLoopback: true });
    expect(clients.find('10.0.0.1', '9.9.9.9')).to.include({ isProxy: false, isLoopback: false });
  });
});
