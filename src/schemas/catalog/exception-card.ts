import { Type } from 'typebox';
import { examples } from '../openapi/examples.js';
import { external, operation, reply } from '../http/operation.js';
import { pageQuery } from '../http/paging.js';
import {
  RateCard,
  RateCardVersion,
  RateCardVersionWrite,
  RateCardWrite,
  versionDetails,
} from './rate-card.js';

const tag = 'Contract services';
const collection = external('/contracts/{contractId}/services/{contractServiceId}/rate-cards');
const item = external('/contracts/{contractId}/services/{contractServiceId}/rate-cards/{currency}');
const versions = external(
  '/contracts/{contractId}/services/{contractServiceId}/rate-cards/{currency}/versions',
);

/** The prices of a line of its own; where it has none, the catalog's hold (spec/rating.md R15). */
export const exceptionCardOperations = {
  list: operation({
    id: 'listExceptionCards',
    method: 'GET',
    path: collection,
    tag,
    summary: 'List the current exception cards of a line; none means list price',
    query: Type.Object(pageQuery),
    details:
      'A line is rated by its exception card of the currency, else by the card of the service.',
    success: reply.page(RateCard),
    errors: [400, 404],
  }),
  get: operation({
    id: 'getExceptionCard',
    method: 'GET',
    path: item,
    tag,
    summary: 'Read the current exception card of a currency',
    details: 'With its rows in their order.',
    success: reply.dto(RateCard),
    errors: [404],
  }),
  listVersions: operation({
    id: 'listExceptionCardVersions',
    method: 'GET',
    path: versions,
    tag,
    summary: 'List the versions of an exception card, newest fromDate first',
    query: Type.Object(pageQuery),
    details: 'Usage is priced by the version that was in force on its day.',
    success: reply.page(RateCard),
    errors: [400, 404],
  }),
  createVersion: operation({
    id: 'createExceptionCardVersion',
    method: 'POST',
    path: versions,
    isAddition: true,
    tag,
    summary: 'Make a version of an exception card that begins on a day, past, today or to come',
    body: RateCardVersionWrite,
    example: examples.rateCardVersion,
    details: versionDetails,
    success: reply.created(RateCardVersion),
    errors: [400, 404, 409],
  }),
  deleteVersion: operation({
    id: 'deleteExceptionCardVersion',
    method: 'DELETE',
    path: external(
      '/contracts/{contractId}/services/{contractServiceId}/rate-cards/{currency}/versions/{versionNo}',
    ),
    isAddition: true,
    tag,
    summary: 'Remove a version of an exception card that is not in force yet',
    details: '409 once its first day has come: a version then stays as it is.',
    success: reply.empty(),
    errors: [404, 409],
  }),
  create: operation({
    id: 'createExceptionCard',
    method: 'POST',
    path: collection,
    tag,
    summary: 'Give a line prices of its own in a currency',
    body: RateCardWrite,
    example: examples.rateCard,
    details:
      'It holds instead of the whole card of the service, not row by row. Warnings say what of it will reject usage.',
    success: reply.created(RateCard),
    errors: [400, 404, 409],
  }),
  replace: operation({
    id: 'replaceExceptionCard',
    method: 'PUT',
    path: item,
    tag,
    summary: 'Make a new version of an exception card',
    body: RateCardWrite,
    example: examples.rateCard,
    details: 'Late usage of before keeps its prices. Warnings say what of it will reject usage.',
    success: reply.dto(RateCard),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteExceptionCard',
    method: 'DELETE',
    path: item,
    tag,
    summary: 'Delete an exception card with all its versions: the list price holds again',
    details: 'What was rated stays.',
    success: reply.empty(),
    errors: [404],
  }),
};
