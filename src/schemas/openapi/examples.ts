/**
 * Request bodies for the documentation, one story throughout: Acme buys API calls by tier. Tests
 * over all operations send them too, with ids of their own in place of these.
 */
export const exampleIds = {
  account: '01939c6e-7a00-7000-8000-000000000001',
  service: '01939c6e-7a00-7000-8000-000000000002',
  contract: '01939c6e-7a00-7000-8000-000000000003',
  payment: '01939c6e-7a00-7000-8000-000000000004',
  line: '01939c6e-7a00-7000-8000-000000000005',
  invoice: '01939c6e-7a00-7000-8000-000000000006',
  item: '01939c6e-7a00-7000-8000-000000000007',
};
const ids = exampleIds;

const address = { line1: '1 Main Street', city: 'Springfield', zipCode: '12345', country: 'US' };

const attribute = {
  name: 'API calls',
  label: 'API calls',
  dimensionDataType: 'Number',
  isMeterDimension: true,
  meterResetFrequency: 'Monthly',
};

/** 1,000 calls a month are free, the next 9,000 cost 0.02 each, all others 0.015. */
const rateCard = {
  currency: 'USD',
  rows: [
    {
      label: 'API calls',
      priceDimName: 'API calls',
      priceMethod: 'TIERED',
      usageType: 'Charge',
      attributeValues: [{ attributeName: 'region', attributeValue: 'eu' }],
      rateCardTiers: [
        { tierNum: 1, tierMinVal: 0, tierMaxVal: 1000, tierUnitRate: 0, flatRate: false },
        { tierNum: 2, tierMinVal: 1000, tierMaxVal: 10000, tierUnitRate: 0.02, flatRate: false },
        { tierNum: 3, tierMinVal: 10000, tierMaxVal: null, tierUnitRate: 0.015, flatRate: false },
      ],
    },
    { label: 'Fallback', priceDimName: 'API calls', priceMethod: 'QUANTITY', unitRate: 0.03 },
  ],
};

const rateCardVersion = { ...rateCard, fromDate: '2040-01-01' };

const pricingLogic = {
  name: 'Usage charge',
  priceOutput: 'total',
  transactionDimension: 'Billed account',
  usageType: 'Charge',
  chargeType: 'Usage',
  steps: [
    { name: 'calls', label: 'Whole calls', formula: 'Ceil("API calls")' },
    { name: 'total', formula: 'Price(API calls, calls)' },
  ],
};

const line = {
  serviceId: ids.service,
  serviceInstanceId: 'acme-production',
  startDate: '2026-01-01',
  endDate: '2026-12-31',
  chargeFrequency: 'Monthly',
  billingFrequency: 'Monthly',
};

const exprList = [
  { name: 'calls', label: 'Whole calls', formula: 'Ceil("API calls")' },
  { name: 'total', formula: 'Price(API calls, calls)' },
];

const usageEvent = {
  key: 'evt-0001',
  message: {
    externalTransactionId: 'evt-0001',
    serviceId: ids.service,
    eventTimestamp: '2026-03-14T09:26:53Z',
    billingAccountRef: 'acme',
    serviceInstanceId: 'acme-production',
    dimensions: { 'API calls': '1500', region: 'eu' },
  },
};

export const examples = {
  address,
  addressUpdate: { line2: 'Floor 2', zipCode: '12346' },
  account: {
    name: 'Acme',
    number: 'A-1001',
    externalId: 'acme',
    billingDay: 1,
    netTerm: 'Net 30',
    defaultCurrency: 'USD',
    addresses: [address],
  },
  accountUpdate: { netTerm: 'Net 45', billingDay: 15 },
  taxLabels: { gst: '27AAPFU0939F1ZV', pan: 'AAPFU0939F' },
  attribute,
  attributeUpdate: { label: 'Calls of the API' },
  rateCard,
  rateCardVersion,
  pricingLogic,
  pricingLogicUpdate: { name: 'Charge for usage' },
  service: {
    name: 'Data API',
    code: 'data-api',
    description: 'Calls of the data API.',
    currency: 'USD',
    serviceType: 'Usage',
    priceableAttributes: [attribute],
    inputAttributes: [{ name: 'region', dimensionDataType: 'String' }],
    rateCards: [rateCard],
    pricingLogic: [pricingLogic],
  },
  serviceUpdate: { label: 'Data API', serviceStatus: 'Active' },
  contract: {
    name: 'Acme 2026',
    number: 'C-2026-001',
    masterAccountId: ids.account,
    currency: 'USD',
    startDate: '2026-01-01',
    endDate: '2026-12-31',
    services: [line],
  },
  contractUpdate: { poNumber: 'PO-4711', totalPrice: 12000.5 },
  contractService: line,
  contractServiceUpdate: { endDate: '2026-11-30', billingFrequency: 'Quarterly' },
  contractServiceEnd: {
    terminationDate: '2026-06-30',
    terminationMessage: 'Moved to another plan',
  },
  payment: {
    accountId: ids.account,
    currency: 'USD',
    paymentReference: 'PAY-0001',
    paymentMethod: 'Bank Transfer',
    paymentDate: '2026-03-31',
    paymentType: 'Pay In',
    amount: 1250.75,
    comments: 'Invoice of March',
  },
  paymentUpdate: { amount: 1300, comments: 'Corrected' },
  taxRate: { code: 'VAT', rate: 19, name: 'VAT 19 %' },
  taxRateUpdate: { rate: 7.5 },
  wallet: {
    title: 'Prepaid credit',
    accountId: ids.account,
    customerId: 'cus_9s6XKzkNRiz8i3',
    currency: 'USD',
    balance: 500,
    availableBalance: 450.25,
  },
  walletGrant: {
    externalId: 'welcome-2026',
    amount: 25,
    kind: 'promotional',
    priority: 10,
    expiresAt: '2099-01-01',
  },
  hold: {
    accountId: ids.account,
    currency: 'USD',
    amount: 5,
    expiresInSeconds: 600,
    key: 'session-1',
  },
  holdCommit: {
    message: { ...usageEvent.message, externalTransactionId: 'session-1' },
  },
  alert: {
    name: 'Half of the credit is used',
    accountId: ids.account,
    measure: 'spend',
    period: 'Monthly',
    thresholds: [250, 500],
  },
  adjustment: { accountId: ids.account, kind: 'discountPercent', value: 10, from: '2026-01-01' },
  adjustmentUpdate: { value: 12.5, to: '2027-01-01' },
  alertUpdate: { thresholds: [300, 500] },
  walletUpdate: { enableDisableTopUp: true, thresholdTopUpAmount: 50, autoTopUpAmount: 200 },
  recordType: {
    name: 'subscription',
    label: 'Subscription',
    description: 'What customers have subscribed to.',
    fields: [
      { name: 'status', type: 'string', required: true, values: ['trial', 'active', 'ended'] },
      { name: 'email', type: 'string', unique: true },
      { name: 'seats', type: 'number' },
      { name: 'renewsOn', type: 'date' },
      { name: 'address', type: 'object' },
      { name: 'tags', type: 'array' },
    ],
  },
  recordTypeUpdate: { label: 'Subscriptions' },
  record: {
    data: {
      status: 'active',
      seats: 12.5,
      renewsOn: '2027-01-31',
      address: { city: 'Springfield' },
      tags: ['eu', 'annual'],
    },
  },
  recordUpdate: { data: { seats: 20, tags: null } },
  webhook: {
    url: 'https://hooks.example/durabill',
    events: ['mdata.created', 'workflow.completed'],
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  },
  webhookUpdate: { events: ['mdata.created', 'invoice.posted'], active: true },
  recordSearch: { filter: ['status:in:trial,active'], sort: 'status:desc', limit: 100 },
  recordBulk: { data: [{ status: 'trial', seats: 1 }, { status: 'active' }] },
  attachment: {
    parentId: ids.contract,
    serviceId: ids.service,
    startDate: '2026-01-01',
    endDate: '2026-12-31',
    billAccountShares: { [ids.account]: 100 },
    dimensionValues: { region: 'eu' },
    chargeFrequency: 'Monthly',
    billingFrequency: 'Quarterly',
    subscriptionChargeType: 'In Advance',
  },
  attachmentUpdate: { endDate: '2027-06-30', dimensionValues: { region: 'us' } },
  priceMatrix: {
    serviceId: ids.service,
    currencyId: 'USD',
    priceMatrixRows: rateCard.rows,
  },
  exceptionMatrix: {
    contractSvcId: ids.line,
    currencyId: 'USD',
    priceMatrixRows: rateCard.rows,
  },
  pricingCopy: {
    q2cEntityServiceId: ids.line,
    sourceServiceId: ids.service,
    currencyId: 'USD',
  },
  rateComputation: {
    serviceId: ids.service,
    name: 'Usage charge',
    seqNo: 1,
    expressionList: {
      exprList,
      computationOutput: {
        priceOutput: 'total',
        transactionDimension: 'Billed account',
        usageType: 'Charge',
        chargeType: 'Usage',
      },
    },
  },
  rateComputationUpdate: { name: 'Charge for usage', seqNo: 2 },
  serviceLayout: {
    groups: [{ title: 'Calls', fields: [{ dimension: 'API calls', width: 0.5 }] }],
    criteria: { all: [{ field: 'region', equals: 'eu' }] },
  },
  workflow: {
    definition: {
      document: {
        dsl: '1.0.0',
        namespace: 'acme',
        name: 'large-payment',
        version: '1.0.0',
        title: 'Large payments',
      },
      input: {
        schema: {
          format: 'json',
          document: {
            type: 'object',
            required: ['amount'],
            properties: { amount: { type: 'number', minimum: 0 } },
          },
        },
      },
      do: [
        {
          judge: {
            switch: [
              { large: { when: '${ input.amount >= 10000 }', then: 'report' } },
              { small: { then: 'end' } },
            ],
          },
        },
        { report: { set: { size: 'large', amount: '${ input.amount }' } } },
      ],
    },
  },
  secret: { value: 'a secret of the CRM' },
  usageEvent,
  registration: {
    client_name: 'Billing assistant',
    redirect_uris: ['http://localhost:33418/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: 'mcp:read mcp:write',
  },
};
