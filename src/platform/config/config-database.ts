import { Type, type Static } from 'typebox';
import { StartupError } from '../startup-error.js';

/** How the database is reached, and by how many connections. */
export const DatabaseEnvironment = Type.Object({
  DATABASE_URL: Type.Optional(
    Type.String({
      format: 'postgres-url',
      description: 'an address such as postgres://user:password@host:5432/database',
    }),
  ),
  DATABASE_OWNER_URL: Type.Optional(
    Type.String({
      format: 'postgres-url',
      description: 'an address such as postgres://owner:password@host:5432/database',
    }),
  ),
  DATABASE_POOL_MAX: Type.Integer({
    minimum: 2,
    maximum: 1000,
    default: 20,
    description: 'a whole number of connections from 2 to 1000',
  }),
});

/**
 * 'DATABASE_OWNER_URL' alone is refused: processes must not use the owner of the tables as their
 * login.
 */
export function refuseOwnerAlone(values: Static<typeof DatabaseEnvironment>): void {
  if (values.DATABASE_OWNER_URL === undefined || values.DATABASE_URL !== undefined) return;
  throw new StartupError(
    'DATABASE_OWNER_URL is set, but DATABASE_URL is not: set the address that processes use, too.',
  );
}
