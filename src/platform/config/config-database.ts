import { Type, type Static } from 'typebox';
import { StartupError } from '../startup-error.js';
import { hasProtocol } from './config-forms.js';

const cellsForm =
  'names and addresses such as eu1=postgres://user:password@host:5432/database, several with ' +
  "commas; names are lower-case letters, digits and dashes, and not 'home'";

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
  CELLS: Type.Optional(
    Type.String({
      format: 'cells',
      description: cellsForm,
    }),
  ),
  CELL_OWNERS: Type.Optional(Type.String({ format: 'cells', description: cellsForm })),
  DIRECT_CELLS: Type.Optional(Type.String({ format: 'cells', description: cellsForm })),
  DATABASE_POOL_MAX: Type.Integer({
    minimum: 2,
    maximum: 1000,
    default: 20,
    description: 'a whole number of connections from 2 to 1000',
  }),
});

type DatabaseValues = Static<typeof DatabaseEnvironment>;

const cellForm = /^([a-z][a-z0-9-]{0,30})=(postgres(?:ql)?:\/\/.+)$/;

/** The addresses of cells by their names; undefined where the text has another form. */
export function readCells(text: string): ReadonlyMap<string, string> | undefined {
  const cells = new Map<string, string>();
  // An address may hold commas itself: several hosts, for example.
  for (const each of text.split(/,(?=\s*[a-z][a-z0-9-]*=postgres)/)) {
    const [, name, url] = cellForm.exec(each.trim()) ?? [];
    if (name === undefined || url === undefined || name === homeName) return undefined;
    if (cells.has(name) || !hasProtocol(url, ['postgres:', 'postgresql:'])) return undefined;
    cells.set(name, url);
  }
  return cells;
}

/** The database of `DATABASE_URL` among the cells. */
const homeName = 'home';

/** A PostgreSQL server beside the home database, with its addresses. */
export interface CellConfig {
  readonly name: string;
  readonly url: string;
  /** Of the owner of the tables; undefined: `url` is. */
  readonly ownerUrl: string | undefined;
  /** PostgreSQL itself, where `url` is the address of a pooler. */
  readonly directUrl: string | undefined;
}

/** The cells of the configuration, in its order. */
export function cellsOf(values: DatabaseValues): readonly CellConfig[] {
  const read = (text: string | undefined) => (text === undefined ? undefined : readCells(text));
  const owners = read(values.CELL_OWNERS);
  const direct = read(values.DIRECT_CELLS);
  return [...(read(values.CELLS) ?? [])].map(([name, url]) => ({
    name,
    url,
    ownerUrl: owners?.get(name),
    directUrl: direct?.get(name),
  }));
}

/** Addresses of cells are refused that belong to no cell, or to an embedded home database. */
export function refuseLoneCells(values: DatabaseValues): void {
  const known = new Set(cellsOf(values).map(({ name }) => name));
  for (const variable of ['CELL_OWNERS', 'DIRECT_CELLS'] as const) {
    const given = readCells(values[variable] ?? '') ?? new Map<string, string>();
    const lone = [...given.keys()].find((name) => !known.has(name));
    if (lone === undefined) continue;
    throw new StartupError(
      `${variable} names the cell '${lone}', but CELLS does not: add ${lone}=postgres://… to CELLS.`,
    );
  }
  if (known.size === 0 || values.DATABASE_URL !== undefined) return;
  throw new StartupError(
    'CELLS is set, but DATABASE_URL is not: set the home database, which keeps tenants and keys.',
  );
}

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
