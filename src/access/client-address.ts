import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

function rangeOf(text: string): Range {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/**
 * Parses an address of a request; an IPv4-mapped IPv6 address is IPv4. Undefined: it is not an
 * address.
 */
function parseAddress(text: string): Address | undefined {
  const plain = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  // For invalid addresses `ipaddr.isValid` throws and catches internally: too slow for every
  // request.
  return isIP(plain) === 0 ? undefined : ipaddr.process(plain);
}

/** IPv6 networks of this size count as one client, since they are assigned to one customer. */
const prefixBits = 64;

function groupOf(address: Address): string {
  if (address.kind() === 'ipv4' || address.range() === 'loopback') return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${prefixBits}`);
  return `${network.toString()}/${prefixBits}`;
}

/** The client address of a request, for rate limits. */
export interface ClientAddress {
  /** The address; of IPv6, its network of 64 bits. */
  readonly group: string;
  /** Whether it is loopback: local tools and tests, or a proxy that is not configured. */
  readonly isLoopback: boolean;
  /** Whether it is a proxy that did not forward the client's address. */
  readonly isProxy: boolean;
  /**
   * The address that registrations of OAuth clients are counted by: behind a proxy that is not
   * configured, the forwarded address. As that may be forged, the connection's address is counted,
   * too.
   */
  readonly registrant: string;
}

const unknown: ClientAddress = {
  group: 'unknown',
  isLoopback: false,
  isProxy: false,
  registrant: 'unknown',
};

/** Maximum length of a chain of proxies. */
const hopsMax = 20;

/** Clients whose address is not worked out again, and how long a header may be to be kept for that. */
const knownMax = 10_000;
const keptLengthMax = 200;

/**
 * Determines the client address. `X-Forwarded-For` is trusted only as far as trusted proxies wrote
 * it: read from its end, each trusted proxy's address vouches for the one before it.
 */
export class ClientAddresses {
  readonly #trusted: readonly Range[];
  readonly #known = new LRUCache<string, ClientAddress>({ max: knownMax });

  constructor(trusted: readonly string[] = []) {
    this.#trusted = trusted.map(rangeOf);
  }

  #isTrusted(address: Address): boolean {
    return this.#trusted.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  }

  /** The client of a connection, given the `X-Forwarded-For` of its requests. */
  find(remoteAddress: string | undefined, forwardedFor = ''): ClientAddress {
    if (forwardedFor.length > keptLengthMax) return this.#workOut(remoteAddress, forwardedFor);
    const key = `${remoteAddress} ${forwardedFor}`;
    let client = this.#known.get(key);
    if (client === undefined) {
      client = this.#workOut(remoteAddress, forwardedFor);
      this.#known.set(key, client);
    }
    return client;
  }

  #workOut(remoteAddress: string | undefined, forwardedFor: string): ClientAddress {
    let client = parseAddress(remoteAddress ?? '');
    if (!client) return unknown;
    const hops = this.#trusted.length === 0 ? [] : forwardedFor.split(',').slice(-hopsMax);
    while (this.#isTrusted(client)) {
      const before: Address | undefined = parseAddress(hops.pop()?.trim() ?? '');
      if (!before) break;
      client = before;
    }
    const group = groupOf(client);
    const claimed = parseAddress(forwardedFor.slice(forwardedFor.lastIndexOf(',') + 1).trim());
    const isToldBy = this.#trusted.length === 0 && claimed !== undefined;
    return {
      group,
      registrant: isToldBy ? `${group} for ${groupOf(claimed)}` : group,
      isLoopback: client.range() === 'loopback',
      isProxy: this.#isTrusted(client),
    };
  }
}
