import { withInstance } from '../start/instance.js';
import { issueForCommand } from './named-tenant.js';

export interface TokenOptions {
  readonly tenant?: string;
  readonly org?: string;
  readonly token?: string;
}

/** The token of a command that speaks to the API: the one given, or one of a day for the tenant. */
export async function readerToken({ token, tenant, org }: TokenOptions): Promise<string> {
  if (token !== undefined) return token;
  if (tenant === undefined) throw new Error('Say for whom: --tenant ID or --token TOKEN.');
  const given = { orgId: org ?? null, roles: ['READER'], expiresInSeconds: 86_400 };
  return withInstance((access) => issueForCommand(access, tenant, given));
}
