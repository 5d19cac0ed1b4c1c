import { Type } from 'typebox';
import { DateText, nullable, optional, Uuid, writeBody } from '../fields/field.js';

export const PromoteBody = writeBody(
  {
    fromDate: DateText('First day of the versions that are made.'),
    force: optional(
      Type.Boolean({ description: 'Whether it is done although the guard did not pass.' }),
    ),
    dryRun: optional(Type.Boolean({ description: 'Whether it is only said what would be made.' })),
  },
  { description: 'From when on the prices that were tried are to hold.' },
);

export const Promoted = Type.Object(
  {
    repricingId: Uuid('The repricing.'),
    fromDate: DateText('First day of the versions.'),
    forced: Type.Boolean({ description: 'Whether the guard did not pass.' }),
    dryRun: Type.Boolean({ description: 'Whether nothing was made: it would be.' }),
    executionId: Type.Optional(Uuid('The execution that has made it; not of a dry run.')),
    versions: Type.Array(
      Type.Object(
        {
          kind: Type.String({
            description: 'rateCard, exceptionCard, pricingLogic or adjustment.',
          }),
          serviceId: nullable(Uuid('The service; null of a discount of all of them.')),
          contractServiceId: nullable(
            Uuid('The contract line of an exception card or a discount.'),
          ),
          currency: nullable(
            Type.String({ description: 'ISO code; null of a logic, and of a percentage of any.' }),
          ),
          versionNo: nullable(Type.Integer({ description: 'The version of a card.' })),
          toDate: nullable(
            DateText(
              'Last day of a version that another one follows, or of an adjustment; null: without end.',
            ),
          ),
          nextVersionNo: nullable(
            Type.Integer({ description: 'The version that holds from the day after toDate on.' }),
          ),
          isFirst: Type.Boolean({
            description:
              'Whether it is the earliest version, which holds for all days before, too.',
          }),
          pricingLogicId: nullable(Uuid('The pricing logic.')),
          adjustmentId: nullable(Uuid('The adjustment.')),
          affectedEvents: nullable(
            Type.Integer({ description: 'Rated events that it touches; null: not counted.' }),
          ),
        },
        { description: 'What was made.' },
      ),
      { description: 'In the order of the changes.' },
    ),
  },
  { description: 'What was put in force.' },
);
