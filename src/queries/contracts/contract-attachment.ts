import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { parseDecimal } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import type { ContractService } from '../../models/contracts/contract-service.js';
import type * as schema from '../../schemas/contracts/contract-attachment.js';
import {
  linesOf,
  missingLine,
  presentLine,
  presentLineHeader,
  withCards,
} from './contract-service.js';
import { requireContract } from './require-contract.js';

export type AttachmentDto = Static<typeof schema.Attachment>;
export type AttachmentHeaderDto = Static<typeof schema.AttachmentHeader>;

/** Shares are kept as text where a float would lose digits (docs/decisions/0054). */
function presentShares(shares: object | null): Record<string, unknown> | null {
  if (shares === null) return null;
  const exact = (value: unknown) => (typeof value === 'string' ? parseDecimal(value) : null);
  return Object.fromEntries(
    Object.entries(shares).map(([id, share]) => [id, exact(share) ?? share]),
  );
}

function presentHeader(line: ContractService): AttachmentHeaderDto {
  const { contractId: parentId, ...header } = presentLineHeader(line);
  return {
    ...header,
    parentId,
    subscriptionChargeType: line.subscriptionChargeType,
    billAccountShares: presentShares(line.accountMap),
    dimensionValues: line.dimensionValues as AttachmentHeaderDto['dimensionValues'],
  };
}

/** A line under the names of family B. 404: there is none. */
export async function getAttachment(
  db: Knex,
  tenantId: string,
  id: string,
  day: string,
): Promise<AttachmentDto> {
  const line = await linesOf(db, tenantId).findById(id).withGraphFetched('attributes');
  if (!line) throw missingLine(id);
  await withCards(db, tenantId, [line], day);
  const { priceableAttributes, rateCards } = await presentLine(line);
  return { ...presentHeader(line), priceableAttributes, rateCards };
}

/** All lines of a contract, oldest first. 404: there is no such contract. */
export async function listAttachments(
  { db, tenantId }: Scope,
  contractId: string,
): Promise<AttachmentHeaderDto[]> {
  await requireContract(db.read, tenantId, contractId);
  const lines = await linesOf(db.read, tenantId).where({ contractId });
  return lines.map(presentHeader);
}
