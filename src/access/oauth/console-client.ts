import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { OauthClient } from './clients.js';

/** The client that the console is: the same in every instance, and no one that registered itself. */
export const consoleClientId = 'c0501e00-0000-4000-8000-000000000001';

/** What is stored of where clients registered from; the console did from nowhere. */
const fromNowhere = createHash('sha256').update('console').digest();

/** The pages that the console is sent back to, under each address of an instance. */
export const consoleRedirectUris = (publicUrls: readonly string[]): readonly string[] =>
  publicUrls.map((url) => `${url}/console/signed-in`);

/**
 * Makes the console a client of the authorization server, or tells it where the instance is reached
 * now. Each time that somebody signs in: what nobody used within days is purged.
 */
export async function ensureConsoleClient(
  db: Knex,
  publicUrls: readonly string[],
  now: Date,
): Promise<void> {
  const client: OauthClient = {
    id: consoleClientId,
    name: 'Durabill console',
    redirectUris: consoleRedirectUris(publicUrls),
    grantTypes: ['authorization_code', 'refresh_token'],
    mayRefresh: true,
    scopes: null,
    createdAt: now,
  };
  await db('oauthClient')
    .insert({ ...client, registeredFrom: fromNowhere })
    .onConflict('id')
    .merge(['redirectUris', 'createdAt']);
}
