/** A tenant that is moved to another cell, as its workflow is given it. */
export interface TenantMove {
  readonly tenantId: string;
  /** The name of the cell that it moves to. */
  readonly to: string;
  /** How long the rows that it leaves are kept. */
  readonly graceMs: number;
}

/** A move that has begun: where the tenant was then. */
export interface BegunMove extends TenantMove {
  readonly from: string;
}

/** What a move is doing; after `moved` the tenant is served by its new cell. */
export type MovePhase = 'checking' | 'copying' | 'comparing' | 'flipping' | 'moved' | 'removed';

/** How far a move is, as its query tells. */
export interface MoveProgress {
  readonly phase: MovePhase;
  readonly from: string | null;
  /** Tables that follow their source, of how many. */
  readonly copied: number;
  readonly tables: number;
  /** How long nothing was done for the tenant; null: it is still where it was. */
  readonly pauseMs: number | null;
}

/** The workflow id of a tenant's move: there is one at a time. */
export const tenantMoveId = (tenantId: string): string => `${tenantId}/move`;

export const moveProgressQuery = 'moveProgress';
