import { Type } from 'typebox';
import { nullable } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { WholeNumber } from '../http/paging.js';

export const Changed = Type.Object(
  {
    usage: Type.Boolean({
      description:
        'Whether usage was rated, rejected or found twice, or a hold, or a grant by its time, has begun or ended.',
    }),
    executions: nullable(
      Type.Array(Type.String({ description: 'Id of the execution.' }), {
        maxItems: 50,
        description: 'Executions that began, went on or ended; null: more than are named.',
      }),
    ),
  },
  { description: 'What has changed: to be read again where it is shown.' },
);

export const changeOperations = {
  stream: operation({
    id: 'streamChanges',
    isAddition: true,
    method: 'GET',
    path: '/v1/changes',
    tag: 'Exports',
    family: 'records',
    summary: 'Hear what changes, as it happens',
    description:
      'Server-sent events: one within half a second of a change, at most four a second, and a comment ' +
      'every 15 seconds. The stream ends after `seconds` and with the token.',
    details:
      'An event says what to read again, and nothing of what it says now. One may be lost when a process ' +
      'is killed: read again now and then all the same, and whenever a stream begins. At most 500 streams ' +
      'of a tenant are open in a process.',
    query: Type.Object({
      seconds: WholeNumber({
        description: 'For how long to listen, at most 3600.',
        minimum: 1,
        cap: 3600,
      }),
    }),
    success: reply.events(Changed, {
      usage: true,
      executions: ['01939c6e-7a00-7000-8000-000000000008'],
    }),
    errors: [],
  }),
};
