import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import { operationOf } from '../../../src/activities/workflows/operation-of.js';

describe('a flow that a workflow has called', () => {
  const { read } = operationOf({
    seq: 1,
    call: 'durabill.billing-run',
    with: {},
    isUndo: false,
  });
  const ends: readonly [string, number, string][] = [
    ['timed_out', 504, 'timeout'],
    ['failed', 503, 'unavailable'],
    ['failed', 502, 'badGateway'],
    ['failed', 422, 'conflict'],
  ];
  for (const [status, code, kind] of ends) {
    it(`and that has ended as ${status} with ${code} is not asked for again`, () => {
      const answer = { status, output: null, error: { message: 'It was so.', status: code } };
      expect(() => read(answer))
        .to.throw(ApplicationFailure, 'It was so.')
        .that.deep.include({ nonRetryable: true })
        .and.has.nested.property('details[0].kind', kind);
    });
  }

  it('gives what it has put out', () => {
    expect(read({ status: 'completed', output: { n: 1 }, error: null })).to.deep.equal({ n: 1 });
  });
});
