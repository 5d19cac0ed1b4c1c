/** The directory names a cell for a tenant that `CELLS` does not. */
export class UnknownCellError extends Error {
  /** Known to `commands/rules/database-problem.ts`, as the codes of PostgreSQL are. */
  readonly code = 'CELL_REFUSED';

  constructor(tenantId: string, cell: string) {
    super(
      `The tenant '${tenantId}' is in the cell '${cell}', which CELLS does not name: ` +
        `add ${cell}=postgres://… to CELLS.`,
    );
    this.name = 'UnknownCellError';
  }
}

/** The server at the address of a cell is not that cell, or lacks migrations. */
export class CellRefusedError extends Error {
  readonly code = 'CELL_REFUSED';

  constructor(message: string) {
    super(message);
    this.name = 'CellRefusedError';
  }
}
