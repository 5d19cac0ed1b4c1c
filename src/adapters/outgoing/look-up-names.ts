import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** The addresses of a name. Rejects with a `NameError`, and within its time whatever happens. */
export type Names = (name: string) => Promise<readonly string[]>;

/** Why a name has no addresses, in words for the owner of a webhook. */
export class NameError extends Error {}

export interface NamesOptions {
  /** How long a name may take altogether. */
  readonly timeoutMs: number;
  /** Name servers (`address` or `address:port`); undefined: those of the system. */
  readonly servers?: readonly string[] | undefined;
}

const hostsPath = '/etc/hosts';
/** How long what the file of hosts said is believed. */
const hostsMs = 5_000;
/** Addresses of a name that are tried: a receiver has a few, an attacker's name may have hundreds. */
const addressesMax = 16;
/** How often a name server is asked before it counts as silent. */
const tries = 2;

/** The names of `/etc/hosts` with their addresses. */
function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), address]);
    }
  }
  return hosts;
}

function openHosts(): (name: string) => Promise<readonly string[]> {
  let hosts: ReadonlyMap<string, readonly string[]> = new Map();
  let readAt = -Infinity;
  return async (name) => {
    if (performance.now() - readAt > hostsMs) {
      hosts = parseHosts(await readFile(hostsPath, 'utf8').catch(() => ''));
      readAt = performance.now();
    }
    return hosts.get(name) ?? [];
  };
}

/** What a failed question means. */
function reasonOf(error: unknown): string {
  const { code = '' } = error as { code?: string };
  if (code === 'ENOTFOUND' || code === 'ENODATA') return 'is not known';
  if (code === 'ETIMEOUT' || code === 'ECANCELLED') return 'got no answer of the name servers';
  return `could not be looked up (${code === '' ? 'unknown reason' : code})`;
}

/** Asks the name servers for both families. */
async function askNameServers(
  resolver: Resolver,
  name: string,
): Promise<{ readonly found: readonly string[]; readonly reason: string }> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  // A name without addresses of one family is common: why the other has none tells more.
  const reasons = answers.flatMap((each) =>
    each.status === 'rejected' ? [reasonOf(each.reason)] : [],
  );
  return { found, reason: reasons.find((each) => each !== 'is not known') ?? 'is not known' };
}

/**
 * Looks names up as the system does for most of them (localhost, `/etc/hosts`, name servers), but not
 * with its `getaddrinfo`: that one blocks a thread of the few that all files and names of the process
 * share for as long as somebody's name server is silent (docs/decisions/0190).
 */
export function openNames({ timeoutMs, servers }: NamesOptions): Names {
  const hostsOf = openHosts();
  return async (asked) => {
    const name = asked.toLowerCase().replace(/\.$/, '');
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const known = await hostsOf(name);
    if (known.length > 0) return known;
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / (2 * tries)), tries });
    const limit = new AbortController();
    try {
      if (servers !== undefined) resolver.setServers(servers);
      const silent = { found: [], reason: 'got no answer of the name servers' };
      const late = wait(timeoutMs, silent, { signal: limit.signal }).catch(() => silent);
      const { found, reason } = await Promise.race([askNameServers(resolver, name), late]);
      const addresses = found.filter((each) => isIP(each) !== 0).slice(0, addressesMax);
      if (addresses.length > 0) return addresses;
      throw new NameError(`The name ${name} ${reason}.`);
    } catch (error) {
      if (error instanceof NameError) throw error;
      throw new NameError(`The name ${name} ${reasonOf(error)}.`, { cause: error });
    } finally {
      limit.abort();
      resolver.cancel();
    }
  };
}
