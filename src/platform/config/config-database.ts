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
  DIRECT_DATABASE_URL: Type.Optional(
    Type.String({
      format: 'postgres-url',
      description: 'an address such as postgres://user:password@host:5432/database',
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
 * The owner's or the direct address alone is refused: processes must not use the owner of the tables
 * as their login, and the direct one belongs to the same database.
 */
export function refuseAddressAlone(values: Static<typeof DatabaseEnvironment>): void {
  if (values.DATABASE_URL !== undefined) return;
  for (const name of ['DATABASE_OWNER_URL', 'DIRECT_DATABASE_URL'] as const) {
    if (values[name] === undefined) continue;
    throw new StartupError(
      `${name} is set, but DATABASE_URL is not: set the address that processes use, too.`,
    );
  }
}
