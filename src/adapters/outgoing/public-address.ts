import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Networks of IPv4 that are no part of the public Internet (IANA's registry of special purposes), and
 * single addresses that clouds answer on inside of a virtual machine though they look public.
 */
const hiddenV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // The agent and the metadata of Azure; those of the other clouds are in the networks above.
  '168.63.129.16/32',
];

/** What of IPv6 is handed out for the public Internet: everything else is refused. */
const publicV6 = ['2000::/3'];

/** Of these, what is no address of a host: tunnels, tests, documentation, and the AS112 project. */
const hiddenV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

/** An IPv4 address behind a translator (RFC 6052): it is as public as the address that it stands for. */
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

function listOf(family: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const hidden4 = listOf('ipv4', hiddenV4);
const public6 = listOf('ipv6', publicV6);
const hidden6 = listOf('ipv6', hiddenV6);

const isPublicV4 = (address: string): boolean => !hidden4.check(address, 'ipv4');

/**
 * Whether an address is one of the public Internet. An IPv4 address in IPv6 counts as itself, where
 * systems know it as one (`::ffff:0:0/96`, `64:ff9b::/96`).
 */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return isPublicV4(parsed.toString());
  if (parsed.match(translated)) return isPublicV4(parsed.toByteArray().slice(12).join('.'));
  const text = parsed.toString();
  return public6.check(text, 'ipv6') && !hidden6.check(text, 'ipv6');
}

/**
 * The host of an address: without the brackets of IPv6 and the dot that may end a name. Numbers in any
 * notation are addresses already.
 */
export const hostOf = (url: string): string => bareHost(new URL(url).hostname);

/** The host as connections are made to it. */
export const bareHost = (hostname: string): string =>
  hostname.replace(/^\[|\]$/g, '').replace(/(?<=.)\.$/, '');
