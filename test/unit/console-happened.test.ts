import { expect } from 'chai';
import { sentenceOf } from '../../src/console/audit/happened.js';

// spec/beyond.md R573
describe('what the time line says', () => {
  it('calls a credit note so, which is an invoice to the API', () => {
    expect(sentenceOf('invoice.posted', 'CN-000001')).to.deep.equal(['Credit note', ' was posted']);
    expect(sentenceOf('invoice.posted', 'INV-000001')).to.deep.equal(['Invoice', ' was posted']);
    expect(sentenceOf('contract.created', 'CN-000001')[0]).to.equal('Contract');
  });

  it('says of an alert that it was triggered, whether the figure rose or fell', () => {
    expect(sentenceOf('alert.triggered', 'low')).to.deep.equal(['Alert', ' was triggered']);
  });
});
