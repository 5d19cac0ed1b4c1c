import type { Scope } from '../../kernel/scope.js';
import { presentLineAttribute, type LineAttributeDto } from '../../queries/catalog/attribute.js';
import {
  createAttribute,
  deleteAttribute,
  updateAttribute,
  type AttributeChange,
  type AttributeInput,
} from '../catalog/attribute.js';
import { changeLine, shrinkLine } from './contract-service.js';
import { requireTypedValue } from './line-dimensions.js';
import type { LineKey } from './lock-contract.js';

/**
 * Adds a priceable attribute to a line. 400: its value is not of its type. 404: there is no such
 * line. 409: the name is taken.
 */
export async function createContractServiceAttribute(
  scope: Scope,
  key: LineKey,
  input: AttributeInput,
): Promise<LineAttributeDto> {
  requireTypedValue(input);
  return changeLine(scope, key, async (trx, { line }) =>
    presentLineAttribute(await createAttribute(trx, scope, { contractServiceId: line.id }, input)),
  );
}

/**
 * Changes what is given. 400: its value is not of its type. 404: no such line or attribute. 409: the
 * name is taken.
 */
export async function updateContractServiceAttribute(
  scope: Scope,
  key: LineKey,
  id: string,
  input: AttributeChange,
): Promise<LineAttributeDto> {
  return changeLine(scope, key, async (trx, { line }) => {
    const owner = { contractServiceId: line.id };
    const attribute = await updateAttribute(trx, scope, owner, id, input, 'PRICEABLE');
    const { dimensionDataType: type, dimensionValText: value } = input;
    if (type !== undefined || value !== undefined) requireTypedValue(attribute);
    return presentLineAttribute(attribute);
  });
}

/** Deletes an attribute. 404: no such line or attribute. 409: a current exception card prices it. */
export async function deleteContractServiceAttribute(
  scope: Scope,
  key: LineKey,
  id: string,
): Promise<void> {
  await shrinkLine(scope, key, (trx, { line }) =>
    deleteAttribute(trx, scope, { contractServiceId: line.id }, id, 'PRICEABLE'),
  );
}
