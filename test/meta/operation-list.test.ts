import { expect } from 'chai';
import type { Operation } from '../../src/schemas/http/operation.js';
import { declaredOperations } from '../support/http/answers.js';

/**
 * The operations of the specification, written down by hand from its tables, and not from the
 * declarations: one that goes missing there is missed here.
 */
interface Section {
  readonly of: string;
  readonly prefix: string;
  /** `METHOD /path status`, as in the tables. */
  readonly operations: string;
}

const external = '/api/v1/external';
const line = '/contracts/{contractId}/services/{contractServiceId}';

const sections: readonly Section[] = [
  {
    of: 'resource API: services',
    prefix: external,
    operations: `
      GET /services 200
      GET /services/{serviceId} 200
      POST /services 201
      PUT /services/{serviceId} 200
      DELETE /services/{serviceId} 204
      GET /services/{serviceId}/priceable-attributes 200
      GET /services/{serviceId}/priceable-attributes/{attributeId} 200
      POST /services/{serviceId}/priceable-attributes 201
      PUT /services/{serviceId}/priceable-attributes/{attributeId} 200
      DELETE /services/{serviceId}/priceable-attributes/{attributeId} 204
      GET /services/{serviceId}/rate-cards 200
      GET /services/{serviceId}/rate-cards/{currency} 200
      GET /services/{serviceId}/rate-cards/{currency}/versions 200
      POST /services/{serviceId}/rate-cards 201
      PUT /services/{serviceId}/rate-cards/{currency} 200
      DELETE /services/{serviceId}/rate-cards/{currency} 204
      GET /services/{serviceId}/pricing-logic 200
      GET /services/{serviceId}/pricing-logic/{pricingLogicId} 200
      POST /services/{serviceId}/pricing-logic 201
      PUT /services/{serviceId}/pricing-logic/{pricingLogicId} 200
      DELETE /services/{serviceId}/pricing-logic/{pricingLogicId} 204`,
  },
  {
    of: 'resource API: contracts',
    prefix: external,
    operations: `
      GET /contracts 200
      GET /contracts/{contractId} 200
      POST /contracts 201
      PUT /contracts/{contractId} 200
      DELETE /contracts/{contractId} 204
      GET /contract-services/{contractServiceId} 200
      PUT /contract-services/{contractServiceId} 200
      PUT /contract-services/{contractServiceId}/end 200
      PUT /contracts/services/by-instance/{serviceInstanceId}/end 200
      GET /contracts/{contractId}/services 200
      GET ${line} 200
      POST /contracts/{contractId}/services 201
      PUT ${line} 200
      PUT ${line}/end 200
      DELETE ${line} 204
      GET ${line}/priceable-attributes 200
      GET ${line}/priceable-attributes/{attributeId} 200
      POST ${line}/priceable-attributes 201
      PUT ${line}/priceable-attributes/{attributeId} 200
      DELETE ${line}/priceable-attributes/{attributeId} 204
      GET ${line}/rate-cards 200
      GET ${line}/rate-cards/{currency} 200
      GET ${line}/rate-cards/{currency}/versions 200
      POST ${line}/rate-cards 201
      PUT ${line}/rate-cards/{currency} 200
      DELETE ${line}/rate-cards/{currency} 204`,
  },
  {
    of: 'resource API: accounts',
    prefix: external,
    operations: `
      GET /accounts 200
      GET /accounts/{accountId} 200
      GET /accounts/by-external-id/{externalId} 200
      POST /accounts 201
      PUT /accounts/{accountId} 200
      PUT /accounts/{accountId}/activate 200
      PUT /accounts/{accountId}/deactivate 200
      PUT /accounts/{accountId}/tax-labels 200
      DELETE /accounts/{accountId} 204
      GET /accounts/{accountId}/addresses 200
      GET /accounts/{accountId}/addresses/{addressId} 200
      POST /accounts/{accountId}/addresses 201
      PUT /accounts/{accountId}/addresses/{addressId} 200
      DELETE /accounts/{accountId}/addresses/{addressId} 204`,
  },
  {
    of: 'resource API: payments',
    prefix: external,
    operations: `
      GET /payments 200
      GET /payments/{paymentId} 200
      POST /payments 201
      PUT /payments/{paymentId} 200
      DELETE /payments/{paymentId} 204`,
  },
  {
    of: 'resource API: wallets',
    prefix: external,
    operations: `
      GET /wallets 200
      GET /wallets/{walletId} 200
      POST /wallets 201
      PUT /wallets/{walletId} 200
      DELETE /wallets/{walletId} 204`,
  },
  {
    of: 'resource API: invoices',
    prefix: external,
    operations: `
      GET /invoices 200
      GET /invoices/{invoiceId} 200
      GET /invoices/{invoiceId}/pdf 200`,
  },
  {
    of: 'resource API: rated transactions, reference data',
    prefix: external,
    operations: `
      GET /rated-transactions 200
      GET /rated-transactions/{transactionId} 200
      GET /countries 200
      GET /currencies 200`,
  },
  {
    of: 'flows',
    prefix: external,
    operations: `
      GET /api-contract 200
      GET /api-contract/{flowId} 200`,
  },
  {
    // `/run/{slug}`: a slug has slashes, so that each flow is an operation of its own.
    of: 'flows by slug',
    prefix: `${external}/run/billing`,
    operations: `
      POST /account/create 200
      POST /account/edit 200
      POST /account/delete 200
      POST /account/approve 200
      POST /contract/create 200
      POST /contract/edit 200
      POST /contract/delete 200
      POST /contract/approve 200
      POST /service/create 200
      POST /service/edit 200
      POST /service/delete 200
      POST /service/approve 200
      POST /service/clone 200
      POST /payment/create 200
      POST /payment/edit 200
      POST /payment/delete 200`,
  },
  {
    // The statuses are those of the resource API, whose envelope the bodies have.
    of: 'family B: contract services',
    prefix: '/api/q2c-entity-services/CONTRACT',
    operations: `
      POST  201
      PUT /{contractServiceId} 200
      DELETE /{contractServiceId} 204
      GET /parent/{contractId} 200`,
  },
  {
    of: 'family B: price matrices',
    prefix: '/api/service-price-matrix',
    operations: `
      GET /{serviceId} 200
      POST /insert 201
      PUT /update 200
      GET /currencies 200
      GET /contract/{contractServiceId} 200
      POST /contract/insert 201
      PUT /contract/update 200
      POST /contract/copy-from-service 200`,
  },
  {
    of: 'family B: rate computations, layouts',
    prefix: '/api',
    operations: `
      GET /rate-computation/service/{serviceId}/all 200
      POST /rate-computation 201
      PUT /rate-computation/{computationId} 200
      DELETE /rate-computation/{computationId} 204
      GET /rate-computation/service/{serviceId}/validate 200
      GET /v1/service-layout/{serviceId} 200
      PUT /v1/service-layout/{serviceId} 200`,
  },
  {
    of: 'family C: workflows',
    prefix: '/v1/workflows',
    operations: `
      GET  200
      POST /{workflowId}/execute 200
      GET /{workflowId} 200
      GET /{workflowId}/executions 200
      GET /{workflowId}/executions/{executionId} 200`,
  },
  {
    of: 'family C: record types and records',
    prefix: '/v1/mobjects',
    operations: `
      GET  200
      POST  201
      GET /{mobjectId} 200
      PUT /{mobjectId} 200
      DELETE /{mobjectId} 200
      POST /{mobjectId}/mdata 201
      GET /{mobjectId}/mdata/{mdataId} 200
      PUT /{mobjectId}/mdata/{mdataId} 200
      DELETE /{mobjectId}/mdata/{mdataId} 200
      GET /{mobjectId}/mdata 200
      POST /{mobjectId}/mdata/bulk 200`,
  },
  {
    of: 'family C: webhooks',
    prefix: '/v1/webhooks',
    operations: `
      GET  200
      POST  201
      GET /{webhookId} 200
      PUT /{webhookId} 200
      DELETE /{webhookId} 204
      GET /{webhookId}/deliveries 200
      POST /{webhookId}/deliveries/{deliveryId}/redeliver 200`,
  },
  {
    of: 'gateway: OAuth',
    prefix: '/api/oauth/per-user',
    operations: `
      POST /register 201
      GET /authorize 302`,
  },
  {
    of: 'gateway: ingestion',
    prefix: '/v1/ingest/usage',
    operations: `
      POST  200
      POST /batch 200`,
  },
  {
    of: 'usage events; docs/decisions/0236: outcomes',
    prefix: '/v1/usage-events',
    operations: `
      GET  200
      GET /{id} 200
      POST /{id}/retry 200
      POST /retry 200
      POST /simulate 200
      POST /outcomes 200`,
  },
  {
    of: 'picklists, audit',
    prefix: '/v1',
    operations: `
      GET /picklists 200
      GET /picklists/{name} 200
      GET /audit 200`,
  },
];

/** Parameters may be called otherwise in the declarations. */
const anonymous = (operation: string): string => operation.replace(/\{\w+\}/g, '{}');

const nameOf = ({ method, path, success }: Operation): string =>
  anonymous(`${method} ${path} ${success.status}`);
const declared = new Set(declaredOperations.map(nameOf));
/** Served besides the specification; `test/meta` and the tests of their entities cover them. */
const additions = declaredOperations.filter(({ isAddition }) => isAddition).map(nameOf);

const listed = sections.map((section) => ({
  ...section,
  operations: section.operations
    .trim()
    .split('\n')
    .map((text) => {
      const [, method = '', path = '', status = ''] =
        /^(\w+) (\S*) (\d{3})$/.exec(text.trim()) ?? [];
      return anonymous(`${method} ${section.prefix}${path} ${status}`);
    }),
}));

describe('the operations of the specification', () => {
  // What of them no test has answered, `test/support/runner/coverage.ts` finds.
  for (const { of, operations } of listed) {
    // spec/resources.md R88; spec/flows.md R1
    it(`${of}: are all there, with their statuses`, () => {
      const missing = operations.filter((operation) => !declared.has(operation));
      expect(missing, 'missing').to.deep.equal([]);
    });
  }

  // spec/resources.md R81
  it('are listed once each, and everything served is among them', () => {
    const all = [...listed.flatMap(({ operations }) => operations), ...additions];
    expect(new Set(all).size, 'listed').to.equal(all.length);
    const unlisted = [...declared].filter((operation) => !all.includes(operation));
    expect(unlisted, 'served, but in no table').to.deep.equal([]);
  });
});
