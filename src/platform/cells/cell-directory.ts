import { LRUCache } from 'lru-cache';
import type { Cell } from '../database/cell.js';
import { UnknownCellError } from './cell-errors.js';

/** The name of the cell that a tenant's rows are in; undefined: they are in the home database. */
export type FindCell = (tenantId: string) => Promise<string | undefined>;

/** Tenants whose cell is kept; others are looked up again. */
const tenantsMax = 50_000;

/**
 * The age from which a tenant's cell is looked up again behind its back. Changes are told by
 * notification; this is for a notification that was lost.
 */
const recheckMs = 30_000;

interface Known {
  readonly cell: Cell;
  readonly readAt: number;
}

/**
 * In which cell each tenant is. Without the home database the last known cells are used, so that
 * tenants of other cells do not notice.
 */
export class CellDirectory {
  readonly #cells: ReadonlyMap<string, Cell>;
  readonly #home: Cell;
  readonly #find: FindCell;
  readonly #known = new LRUCache<string, Known>({ max: tenantsMax });
  readonly #asking = new Map<string, Promise<Cell>>();
  /** Raised by `forget`: what was asked before it may be out of date. */
  #version = 0;

  constructor(home: Cell, others: readonly Cell[], find: FindCell) {
    this.#home = home;
    this.#cells = new Map([home, ...others].map((cell) => [cell.name, cell]));
    this.#find = find;
  }

  /** The cell of a tenant; a promise where it has to be looked up. */
  of(tenantId: string): Cell | Promise<Cell> {
    if (tenantId === '') return this.#home;
    const known = this.#known.get(tenantId);
    if (known === undefined) return this.#ask(tenantId);
    if (performance.now() - known.readAt > recheckMs) {
      void this.#ask(tenantId).catch(() => undefined);
    }
    return known.cell;
  }

  /** A tenant has another cell than before; without an id, any of them may have. */
  forget(tenantId?: string): void {
    this.#version += 1;
    this.#asking.clear();
    if (tenantId === undefined || tenantId === '') this.#known.clear();
    else this.#known.delete(tenantId);
  }

  #ask(tenantId: string): Promise<Cell> {
    const asking = this.#asking.get(tenantId);
    if (asking) return asking;
    const asked = this.#read(tenantId).finally(() => {
      if (this.#asking.get(tenantId) === asked) this.#asking.delete(tenantId);
    });
    this.#asking.set(tenantId, asked);
    return asked;
  }

  async #read(tenantId: string): Promise<Cell> {
    const version = this.#version;
    const name = await this.#find(tenantId);
    const cell = name === undefined ? this.#home : this.#cells.get(name);
    if (cell === undefined) {
      if (version === this.#version) this.#known.delete(tenantId);
      throw new UnknownCellError(tenantId, name ?? '');
    }
    if (version === this.#version) this.#known.set(tenantId, { cell, readAt: performance.now() });
    return cell;
  }
}
