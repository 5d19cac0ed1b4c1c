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

/** An address as texts of requests have it; IPv4 within IPv6 is IPv4. Undefined: it is none. */
function parse(text: string): Address | undefined {
  const plain = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  // `ipaddr.isValid` throws and catches inside for what is none: too slow for every request.
  return isIP(plain) === 0 ? undefined : ipaddr.process(plain);
}

/** Who may hold 2^64 addresses at no cost counts as one. */
const prefixBits = 64;

function groupOf(address: Address): string {
  if (address.kind() === 'ipv4' || address.range() === 'loopback') return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${prefixBits}`);
  return `${network.toString()}/${prefixBits}`;
}

/** From where a request comes, so that it can be counted. */
export interface ClientAddress {
  /** The address; of IPv6, its network of 64 bits. */
  readonly group: string;
  /** Whether it is this machine: tools and tests of its owner, or a proxy that nobody told us of. */
  readonly isLoopback: boolean;
  /** Whether it is a proxy that speaks for many, where it did not say for whom. */
  readonly isProxy: boolean;
  /**
   * Who registers OAuth clients: behind a proxy that nobody told us of, each of those that it names. Who
   * lies about that is counted by his connection, too, for all that he claims to be.
   */
  readonly registrant: string;
}

const unknown: ClientAddress = {
  group: 'unknown',
  isLoopback: false,
  isProxy: false,
  registrant: 'unknown',
};

/** Most proxies in a row that are looked at. */
const hopsMax = 20;

/** Clients whose address is not worked out again, and how long a header may be to be kept for that. */
const knownMax = 10_000;
const keptLengthMax = 200;

/**
 * Tells from where a request comes. `X-Forwarded-For` is believed only as far as trusted proxies wrote
 * it: from its end, each address that is a trusted proxy's vouches for the one before it.
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

  /** The client of a connection, whose requests say this of whom they were forwarded for. */
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
    let client = parse(remoteAddress ?? '');
    if (!client) return unknown;
    const hops = this.#trusted.length === 0 ? [] : forwardedFor.split(',').slice(-hopsMax);
    while (this.#isTrusted(client)) {
      const before: Address | undefined = parse(hops.pop()?.trim() ?? '');
      if (!before) break;
      client = before;
    }
    const group = groupOf(client);
    const claimed = parse(forwardedFor.slice(forwardedFor.lastIndexOf(',') + 1).trim());
    const isToldBy = this.#trusted.length === 0 && claimed !== undefined;
    return {
      group,
      registrant: isToldBy ? `${group} for ${groupOf(claimed)}` : group,
      isLoopback: client.range() === 'loopback',
      isProxy: this.#isTrusted(client),
    };
  }
}
