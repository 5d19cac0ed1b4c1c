import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { flowIdOf } from '../../src/schemas/flows/flow-id.js';
import { flowBody } from '../../src/schemas/flows/flow.js';
import { flowList, flows } from '../../src/schemas/flows/index.js';

/** What a caller must send, written down from the specification and not from the declarations. */
const required: Readonly<Record<string, string>> = {
  'billing/account/create':
    'Company_Name First_Name Last_Name Line1 City State Country Currency Zip_Code',
  'billing/account/edit': 'id',
  'billing/account/delete': 'id',
  'billing/account/approve': 'ID_Account',
  'billing/contract/create': 'name master_account_id',
  'billing/contract/edit': 'id',
  'billing/contract/delete': 'id',
  'billing/contract/approve': 'ID_Contract',
  'billing/service/create': 'name',
  'billing/service/edit': 'id',
  'billing/service/delete': 'id',
  'billing/service/approve': 'ID_Service',
  'billing/service/clone': 'Service_ID',
  'billing/payment/create':
    'account_id amount currency_id payment_date payment_method payment_reference',
  'billing/payment/edit': 'id',
  'billing/payment/delete': 'id',
};

/** A name-based UUID as RFC 9562, section 5.5, makes it: SHA-1 of the name space and the name. */
function uuid5(name: string, space: string): string {
  const hash = createHash('sha1').update(Buffer.from(space.replaceAll('-', ''), 'hex'));
  const bytes = hash.update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

describe('fields of flows', () => {
  // What checks them is compiled for each object that declares them, and never forgotten.
  it('are declared by one object, however often it is asked for', () => {
    for (const flow of Object.values(flows)) expect(flowBody(flow)).to.equal(flowBody(flow));
  });

  // spec/flows.md R12
  it('that are required of each flow are those of the specification', () => {
    const declared = Object.fromEntries(
      flowList
        .filter(([, { isAddition }]) => isAddition !== true)
        .map(([, { slug, start }]) => [slug, [...(start.required ?? [])].sort()]),
    );
    const specified = Object.entries(required).map(
      ([slug, fields]) => [slug, fields.split(' ').sort()] as const,
    );
    expect(declared).to.deep.equal(Object.fromEntries(specified));
  });
});

describe('flows', () => {
  // spec/flows.md R11
  it('have ids that follow from their slugs', () => {
    const space = 'b6f5c3a8-3c55-5d0e-9a55-6f3a7f0d2b11';
    for (const [, { slug }] of flowList) {
      expect(flowIdOf(slug), slug).to.equal(uuid5(`flow/${slug}`, space));
    }
  });
});
