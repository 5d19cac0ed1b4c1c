import ipaddr from 'ipaddr.js';
import { StartupError } from '../startup-error.js';

/** `host:port`, where an IPv6 address stands in brackets. */
export function isHostPort(text: string): boolean {
  const port = Number(
    /^[^\s/:@]+:(\d{1,5})$|^\[[0-9a-f:.]+\]:(\d{1,5})$/i.exec(text)?.[0].split(':').at(-1),
  );
  return port >= 1 && port <= 65535;
}

/** An address with one of these protocols. */
export function hasProtocol(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}

const isEverywhere = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** Operators and callers have a port each, wherever one process would listen for both. */
export function refuseSharedPort(values: {
  readonly ROLE: string;
  readonly HOST: string;
  readonly PORT: number;
  readonly METRICS_HOST: string;
  readonly METRICS_PORT?: number;
}): void {
  const { ROLE, HOST, PORT, METRICS_HOST, METRICS_PORT } = values;
  if (ROLE === 'worker' || METRICS_PORT !== PORT) return;
  if (HOST !== METRICS_HOST && !isEverywhere(HOST) && !isEverywhere(METRICS_HOST)) return;
  throw new StartupError(
    `METRICS_PORT and PORT are both ${PORT}: metrics have a port of their own, which callers do not ` +
      'reach. Set METRICS_PORT to another one.',
  );
}

/** Whether a text is an address, or a range of them as `10.0.0.0/8`. */
export const isAddressRange = (text: string): boolean =>
  ipaddr.isValidCIDR(text) || ipaddr.isValid(text);

/** The longest life that `TOKEN_LIFE_MAX` may give a token, and so how long a revocation is kept. */
export const tokenLifeCeilingSeconds = 366 * 86_400;
