import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { expect } from 'chai';
import { awayFailureType } from '../../src/messages/flow-run.js';
import { failureOf } from '../../src/workflows/runtime/failure.js';
import { isAway } from '../../src/workflows/runtime/repeat-while-away.js';

const ofActivity = (cause: Error): Error =>
  new ActivityFailure('failed', 'billAccountBatch', '1', 'MAXIMUM_ATTEMPTS_REACHED', 'w', cause);
const timeout = (type: 'START_TO_CLOSE' | 'HEARTBEAT' | 'SCHEDULE_TO_START'): TimeoutFailure =>
  new TimeoutFailure('timed out', undefined, type);

// spec/flows.md R393
describe('a step that fails', () => {
  const cases: readonly [string, Error, boolean][] = [
    [
      'whose database is away',
      ofActivity(ApplicationFailure.retryable('x', awayFailureType)),
      true,
    ],
    ['whose worker was killed', ofActivity(timeout('HEARTBEAT')), true],
    ['that no worker takes', ofActivity(timeout('SCHEDULE_TO_START')), true],
    ['that is short, after its seconds', timeout('START_TO_CLOSE'), true],
    ['that is long, after all of its minutes', ofActivity(timeout('START_TO_CLOSE')), false],
    ['with a fault of ours', ofActivity(ApplicationFailure.retryable('x', 'TypeError')), false],
  ];
  for (const [title, error, expected] of cases) {
    it(`${title}, is ${expected ? '' : 'not '}waited for`, () => {
      expect(isAway(error)).to.equal(expected);
    });
  }

  it('says which step took longer than it may', () => {
    expect(failureOf(ofActivity(timeout('START_TO_CLOSE')))).to.deep.equal({
      kind: 'timeout',
      message: "The step 'billAccountBatch' took longer than it may, again and again.",
      details: { step: 'billAccountBatch' },
    });
    // Of what is waited for nobody is told how.
    expect(failureOf(timeout('START_TO_CLOSE')).kind).to.equal('internal');
  });
});
