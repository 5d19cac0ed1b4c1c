import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { copyTenantRow, removeTenantRow } from '../../access/cells/tenant-row.js';
import {
  beginMove,
  endMove,
  placeTenant,
  unlessPlaced,
} from '../../access/cells/tenant-placement.js';
import { requireCell, tenantCellFinder } from '../../access/cells/tenant-cells.js';
import { requireTenant } from '../../access/tenants.js';
import { recordSecurityEvent } from '../../access/security-events.js';
import type { SecurityEvent } from '../../kernel/security-event.js';
import type { BegunMove, TenantMove } from '../../messages/cells/tenant-move.js';
import {
  beginCopy,
  endCopy,
  findObstacle,
  isCopyTrue,
  readCopy,
  removeOldRows,
  takeBack,
  type MovePlace,
} from '../../platform/cells/move/move-tenant.js';
import { flipTenant } from '../../platform/cells/move/flip-tenant.js';
import { MoveError } from '../../platform/cells/move/move-error.js';
import type { CopyProgress } from '../../platform/cells/move/replication.js';
import { homeCell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';
import { activityFailure } from '../failure.js';
import { currentRun } from '../scope.js';

const heartbeatMs = 500;
const actor = 'tenant-move';

/** What cannot be helped by trying again. */
const refusal = (message: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(message, 'MoveRefused');

/** Sends heartbeats while it works, so that a worker that was killed is noticed within seconds. */
async function beating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await work();
  } catch (error) {
    if (error instanceof MoveError) throw refusal(error.message);
    throw activityFailure(error);
  } finally {
    clearInterval(timer);
  }
}

/** The home database keeps the row of every tenant. */
const tenantRemover = (cell: string) =>
  cell === homeCell ? () => Promise.resolve() : removeTenantRow;

/** The event of a move in the audit. */
const eventOf = ({ tenantId, from, to }: BegunMove): SecurityEvent => ({
  tenantId,
  actor,
  entity: 'tenant',
  entityKey: tenantId,
  action: 'update',
  details: { cell: to, before: from },
});

/** Where the owners of cells are; without one a move is refused. */
function placesOf(ownerOf: Platform['ownerOf']) {
  const ownerUrlOf = (cell: string): string => {
    const url = ownerOf(cell);
    if (url !== undefined) return url;
    const variable = cell === homeCell ? 'DATABASE_OWNER_URL' : 'CELL_OWNERS';
    throw refusal(`Workers do not know the owner of the cell '${cell}': set ${variable} for them.`);
  };
  const placeOf = ({ tenantId, from, to }: BegunMove): MovePlace => ({
    tenantId,
    sourceUrl: ownerUrlOf(from),
    targetUrl: ownerUrlOf(to),
  });
  return { ownerUrlOf, placeOf };
}

/** Copies, compares and flips a tenant (docs/decisions/0362). Each step may be done again. */
export function tenantMoveActivities(platform: Platform) {
  const { database, ownerOf } = platform;
  const { ownerUrlOf, placeOf } = placesOf(ownerOf);
  const cellOfTenant = async (tenantId: string): Promise<string> =>
    (await tenantCellFinder(database.platform)(tenantId)) ?? homeCell;
  return {
    /** Checks whether a tenant can be moved; where it is. */
    beginTenantMove: (move: TenantMove): Promise<BegunMove> =>
      beating(async () => {
        const { tenantId, to } = move;
        await requireTenant(database.platform, tenantId);
        requireCell(database, to);
        const from = await cellOfTenant(tenantId);
        if (from === to) throw refusal(`The tenant '${tenantId}' is in the cell '${to}' already.`);
        const begun = { ...move, from };
        const obstacle = await findObstacle(placeOf(begun));
        if (obstacle !== undefined) throw refusal(obstacle);
        const { runId } = currentRun();
        if (await beginMove(ownerUrlOf(homeCell), begun, runId)) return begun;
        throw refusal(`The tenant '${tenantId}' is being moved already.`);
      }),
    beginTenantCopy: (move: BegunMove): Promise<void> =>
      beating(() => beginCopy(placeOf(move), copyTenantRow)),
    readTenantCopy: (move: BegunMove): Promise<CopyProgress> =>
      beating(() => readCopy(placeOf(move))),
    /** Whether the copy was compared; false: it lags. */
    compareTenantCopy: (move: BegunMove): Promise<boolean> =>
      beating(() => isCopyTrue(placeOf(move))),
    /** How long the pause was; null: something is under way that takes longer than a moment. */
    flipTenant: (move: BegunMove & { readonly bound?: string }): Promise<number | null> =>
      beating(async () => {
        const { tenantId, to } = move;
        const pauseMs = await flipTenant(placeOf(move), {
          isFlipped: async () => (await cellOfTenant(tenantId)) === to,
          flip: (check) =>
            placeTenant(ownerUrlOf(homeCell), move, async (trx) => {
              await check();
              await recordSecurityEvent(trx, eventOf(move));
            }),
          unlessFlipped: (work) => unlessPlaced(ownerUrlOf(homeCell), move, work),
        });
        database.forgetCell(tenantId);
        return pauseMs ?? null;
      }),
    endTenantCopy: (move: BegunMove): Promise<void> => beating(() => endCopy(placeOf(move))),
    /** Leaves the tenant where it was; false: the directory names its new cell already. */
    takeTenantBack: (move: BegunMove): Promise<boolean> =>
      beating(async () => {
        const home = ownerUrlOf(homeCell);
        if (!(await endMove(home, move.tenantId, 'copying'))) return false;
        await takeBack(placeOf(move), tenantRemover(move.to));
        return true;
      }),
    removeMovedRows: (move: BegunMove): Promise<number> =>
      beating(async () => {
        const removed = await removeOldRows(
          placeOf(move),
          tenantRemover(move.from),
          () => undefined,
        );
        await endMove(ownerUrlOf(homeCell), move.tenantId, 'moved');
        return removed;
      }),
  };
}
