import {
  discoveryRequest,
  processDiscoveryResponse,
  type AuthorizationServer,
  type DiscoveryRequestOptions,
} from 'oauth4webapi';
import { providerAway } from './provider-fault.js';

/** How long what the provider says of itself is believed. */
const trustMs = 10 * 60_000;
/** How long a provider that did not answer is left alone. */
const pauseMs = 1_000;

const isAddress = (url: string | undefined, isLocal: boolean): boolean =>
  url !== undefined &&
  URL.canParse(url) &&
  (isLocal ? ['http:', 'https:'] : ['https:']).includes(new URL(url).protocol);

async function readServer(
  issuer: URL,
  options: DiscoveryRequestOptions,
): Promise<AuthorizationServer> {
  const server = await processDiscoveryResponse(issuer, await discoveryRequest(issuer, options));
  const { authorization_endpoint, token_endpoint, jwks_uri } = server;
  // Nobody is sent, and no secret goes, over a way that others read.
  for (const endpoint of [authorization_endpoint, token_endpoint, jwks_uri]) {
    if (!isAddress(endpoint, issuer.protocol === 'http:')) {
      throw new Error('An endpoint is missing, or not https.');
    }
  }
  return server;
}

/** What a provider says of itself (OpenID Connect Discovery 1.0), asked by all at once, and kept. */
export function openDiscovery(
  issuer: URL,
  options: DiscoveryRequestOptions,
  complain: (error: unknown) => void,
) {
  let found: { readonly server: AuthorizationServer; readonly at: number } | undefined;
  let asking: Promise<AuthorizationServer> | undefined;
  let failedAt = -Infinity;
  const ask = async (): Promise<AuthorizationServer> => {
    try {
      const server = await readServer(issuer, options);
      found = { server, at: performance.now() };
      return server;
    } catch (error) {
      failedAt = performance.now();
      complain(error);
      throw providerAway();
    } finally {
      asking = undefined;
    }
  };
  return {
    async get(): Promise<AuthorizationServer> {
      const now = performance.now();
      if (found && now - found.at < trustMs) return found.server;
      if (now - failedAt < pauseMs) throw providerAway();
      asking ??= ask();
      return asking;
    },
    /** Asks again the next time: its keys or addresses may be others. */
    forget(): void {
      found = undefined;
    },
  };
}
