import type { Columns } from '../../schemas/fields/columns.js';
import type * as schema from '../../schemas/contracts/contract.js';
import { ApprovableRecord } from '../db/tenant-model.js';

export interface Contract extends Columns<typeof schema.ContractSummary> {}
/** An agreement with an account; what is sold under it are its lines, the contract services. */
export class Contract extends ApprovableRecord {
  static override tableName = 'contract';

  declare approvedBy: string | null;
  declare approvedAt: Date | null;
}
