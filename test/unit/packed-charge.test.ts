import { expect } from 'chai';
import {
  packCharges,
  unpackCharges,
  type PairedCharge,
} from '../../src/queries/usage/repricing/packed-charge.js';

const eventId = '0199c5a4-2400-7003-8000-00000000002a';
const plan = '5b0f1c5e-9a1d-8a52-9d37-1f2e3d4c5b6a';
const account = '0199c5a4-0000-7000-9000-000000000001';
const counter = '7c1d2e3f-4a5b-8c6d-8e7f-0a1b2c3d4e5f';
const origin = {
  planId: plan,
  accountId: account,
  lineId: null,
  contractId: null,
  counters: { [counter]: '100' },
};
const charge: PairedCharge = {
  eventId,
  beforeId: '0199c5a4-2400-7003-8001-00000000002a',
  before: '1.00',
  after: '3',
  currency: 'USD',
  usageType: 'Charge',
  isShared: false,
  origin,
};
const charges: readonly PairedCharge[] = [
  charge,
  // The last charge that an event may have, kept as it is.
  {
    ...charge,
    beforeId: '0199c5a4-2400-7003-bfff-00000000002a',
    before: '1.0',
    after: '1.0',
    isShared: true,
    origin: null,
  },
  { ...charge, beforeId: null, before: null, origin: { ...origin, counted: [counter] } },
  { ...charge, after: null, origin: { ...origin, lineId: account, contractId: plan } },
  { ...charge, origin: { ...origin, counters: {} } },
];

/** How charges of a what-if are kept (docs/decisions/0443). */
describe('charges of a what-if in a row', () => {
  it('are read as they were written, and hold once what they have in common', () => {
    const text = packCharges(charges);
    expect(unpackCharges(text)).to.deep.equal(charges);
    expect(unpackCharges(packCharges([]))).to.deep.equal([]);
    // Of three charges with one origin and another one.
    expect(text.split(plan)).to.have.length(1 + 1 + 2);
  });

  it('are read as versions before have written them', () => {
    const text = JSON.stringify(
      charges.map((one) => [
        one.eventId,
        one.beforeId,
        one.before,
        one.after,
        one.currency,
        one.usageType,
        one.isShared ? 1 : 0,
        one.origin,
      ]),
    );
    expect(unpackCharges(text)).to.deep.equal(charges);
  });
});
