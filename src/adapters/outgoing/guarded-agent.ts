import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Names } from './look-up-names.js';
import { bareHost, isPublic } from './public-address.js';

export interface GuardSettings {
  /** Whether requests may go to private addresses, such as those of this machine. */
  readonly allowsPrivateAddresses: boolean;
  /** How long a request may take. */
  readonly timeoutMs: number;
}

/** Bytes of the headers of an answer that are read. */
const headerBytesMax = 16_384;

export class RefusedAddressError extends Error {}

export const refused = (address: string): RefusedAddressError =>
  new RefusedAddressError(`The address ${address} is not public.`);

/** The addresses of a name that a connection may go to. */
async function addressesOf(
  host: string,
  names: Names,
  { allowsPrivateAddresses }: GuardSettings,
): Promise<LookupAddress[]> {
  const found = await names(host);
  const allowed = allowsPrivateAddresses ? found : found.filter(isPublic);
  if (allowed.length === 0) throw refused(`${found[0] ?? 'nothing'} of ${host}`);
  return allowed.map((address) => ({ address, family: isIP(address) }));
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Looks a name up for a connection: errors are passed to the callback, never thrown. */
function answerLookup(
  found: Promise<LookupAddress[]>,
  { all }: LookupOptions,
  callback: LookupCallback,
): void {
  found
    .then(
      (addresses) => {
        const [first] = addresses;
        if (all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family ?? 4);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), []),
    )
    // What the connection throws at an answer has nowhere to go: its own time limit ends it.
    .catch(() => undefined);
}

/**
 * Connects to public addresses only, unless the instance allows all. A literal address skips the
 * lookup, and a name may resolve to another address each time: so both are checked when the
 * connection is made.
 */
export function guardedAgent(settings: GuardSettings, names: Names): Agent {
  const { allowsPrivateAddresses, timeoutMs } = settings;
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: (host, options, callback) =>
      answerLookup(addressesOf(host, names, settings), options, callback),
  });
  return new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: headerBytesMax,
    connect(options, callback) {
      const host = bareHost(options.hostname);
      const isHidden = !allowsPrivateAddresses && isIP(host) !== 0 && !isPublic(host);
      if (isHidden) callback(refused(host), null);
      else connect(options, callback);
    },
  });
}
