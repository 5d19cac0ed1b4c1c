import type { Knex } from 'knex';
import type { TenantDatabase } from '../../kernel/scope.js';
import type { Logger } from '../log.js';
import type { PoolStates } from '../metrics.js';
import {
  Cell,
  homeCell,
  TenantHandles,
  type CellAddress,
  type Limits,
  type OpenSession,
} from './cell.js';
import { checkCell } from '../cells/cell-check.js';
import { CellDirectory, type FindCell } from '../cells/cell-directory.js';
import { readInTurns } from './connections/read-in-turns.js';
import { traceQueries } from './connections/sql-tracing.js';
import { enterTenants, type Trail } from './tenant-entrance.js';
import { timeLimits, type WorkKind } from './time-limits.js';
import type { Tracing } from '../tracing.js';

interface SessionOptions {
  readonly log: Logger | undefined;
  readonly tracing: Tracing | undefined;
  /** Of the cell that the server must be; undefined: it is the only one. */
  readonly cell: string | undefined;
  /** Called for a tenant that is not in that cell any more. */
  readonly onFenced: (tenantId: string) => void;
}

/** Sets up a connection; a login with too many privileges is logged once. */
function sessionOpener({ log, tracing, cell, onFenced }: SessionOptions): OpenSession {
  let hasWarned = false;
  let isChecked = cell === undefined;
  return async (connection) => {
    readInTurns(connection.connection.stream);
    const mayBypass = await enterTenants(connection, cell === undefined ? undefined : { onFenced });
    if (!isChecked) {
      await checkCell(cell ?? homeCell, connection);
      isChecked = true;
    }
    if (tracing) traceQueries(tracing, connection);
    if (!mayBypass || hasWarned) return;
    hasWarned = true;
    const [login, owner] =
      cell === undefined || cell === homeCell
        ? ['DATABASE_URL', 'DATABASE_OWNER_URL']
        : [`the cell '${cell}' in CELLS`, 'CELL_OWNERS'];
    log?.warn(
      `the login of ${login} may do anything in the database: give running processes one of their own, and the owner in ${owner}`,
    );
  };
}

/** The connections of this process to PostgreSQL. */
export interface Database {
  /** The database of `DATABASE_URL`, with the platform's own tables: tenants, keys, OAuth, limits. */
  readonly home: Cell;
  /** The servers that tenants are in, the home database first. */
  readonly cells: readonly Cell[];
  /** For the platform's own tables. */
  readonly platform: Knex;
  /** The cell that a tenant's rows are in; a promise where it has to be looked up. */
  cellOf(tenantId: string): Cell | Promise<Cell>;
  /** Makes the next use look up the cell of a tenant, or of all where none is named. */
  forgetCell(tenantId?: string): void;
  /**
   * The handle of one tenant in the cell that it is in; `trail` is for the audit, `work` selects the
   * time limits.
   */
  forTenant(tenantId: string, trail: Trail, work?: WorkKind): TenantDatabase;
  /** How full the pools are, by cell. */
  pools(): PoolStates;
  /** Throws unless the home database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface DatabaseOptions {
  readonly log?: Logger;
  readonly tracing?: Tracing | undefined;
  /** Where they differ from `timeLimits`; tests have no minutes. */
  readonly limits?: Partial<Limits> | undefined;
  /** Of the connections, what one tenant may hold while others wait. */
  readonly tenantShare?: number | undefined;
  /** How long a new connection is waited for, `connectMsDefault` by default. */
  readonly connectMs?: number | undefined;
  /** The servers beside the home database, and how it is found out which one a tenant is in. */
  readonly cells?: readonly CellAddress[] | undefined;
  readonly findCell?: ((home: Knex) => FindCell) | undefined;
}

const connectMsDefault = 5_000;

/** How long nothing is asked of a cell to which a connection failed. */
const awayRestMs = 1_000;

/**
 * Opens pools of at most `poolMax` connections to each server, lazily: nothing connects before it is
 * used.
 */
export function openDatabase(
  url: string,
  poolMax: number,
  {
    log,
    tracing,
    limits: given,
    tenantShare = 0.5,
    connectMs = connectMsDefault,
    cells: others = [],
    findCell = () => () => Promise.resolve(undefined),
  }: DatabaseOptions = {},
): Database {
  const limits: Limits = { ...timeLimits, ...given };
  const isAlone = others.length === 0;
  const placed: { directory?: CellDirectory } = {};
  const [home, ...rest] = [{ name: homeCell, url }, ...others].map(
    (address) =>
      new Cell(address, {
        poolMax,
        tenantShare,
        connectMs,
        limits,
        log,
        // Without other cells there is nobody whom the attempts could hold up.
        restMs: isAlone ? 0 : awayRestMs,
        open: sessionOpener({
          log,
          tracing,
          cell: isAlone ? undefined : address.name,
          onFenced: (tenantId) => placed.directory?.forget(tenantId),
        }),
      }),
  ) as [Cell, ...Cell[]];
  const cells = [home, ...rest];
  if (!isAlone) placed.directory = new CellDirectory(home, rest, findCell(home.platform));
  const { directory } = placed;
  const cellOf = (id: string): Cell | Promise<Cell> => directory?.of(id) ?? home;
  const handles = new TenantHandles(home.options, { limits, log }, cellOf);
  return {
    home,
    cells,
    platform: home.platform,
    cellOf,
    forgetCell: (tenantId) => placed.directory?.forget(tenantId),
    forTenant: (...asked) => handles.forTenant(...asked),
    pools: () => new Map(cells.map((cell) => [cell.name, cell.pool()])),
    ping: () => home.ping(),
    async close() {
      await Promise.all(cells.map((cell) => cell.close()));
    },
  };
}
