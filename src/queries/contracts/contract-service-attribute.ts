import type { Scope } from '../../kernel/scope.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import {
  getAttribute,
  listAttributes,
  presentLineAttribute,
  type LineAttributeDto,
} from '../catalog/attribute.js';
import { requireLine } from './contract-service.js';

/** One page of a line's priceable attributes. 404: there is no such line. */
export async function listContractServiceAttributes(
  { db, tenantId }: Scope,
  contractId: string,
  contractServiceId: string,
  page: PageRequest,
): Promise<Listed<LineAttributeDto>> {
  await requireLine(db.read, tenantId, contractId, contractServiceId);
  const owner = { contractServiceId };
  return listAttributes(db.read, tenantId, owner, page, presentLineAttribute, 'PRICEABLE');
}

/** A priceable attribute of a line. 404: no such line or attribute. */
export async function getContractServiceAttribute(
  { db, tenantId }: Scope,
  contractId: string,
  contractServiceId: string,
  id: string,
): Promise<LineAttributeDto> {
  await requireLine(db.read, tenantId, contractId, contractServiceId);
  const owner = { contractServiceId };
  return presentLineAttribute(await getAttribute(db.read, tenantId, owner, id, 'PRICEABLE'));
}
