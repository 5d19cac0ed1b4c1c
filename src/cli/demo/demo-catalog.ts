/**
 * The account, service and contract that the demo creates: the bodies that a reader would send with
 * curl. `demo-run.ts` sends them, with the usage of `examples/usage.csv`.
 */

export const demoAccount = {
  name: 'Acme Inc.',
  number: 'A-1',
  externalId: 'acme',
  billingDay: 1,
  netTerm: 'Net 30',
  defaultCurrency: 'USD',
  addresses: [{ line1: '1 Main Street', city: 'Springfield', country: 'US' }],
};

const tiers = (overage: number) => [
  { tierNum: 1, tierMinVal: 0, tierMaxVal: 1000, tierUnitRate: 0, flatRate: false },
  { tierNum: 2, tierMinVal: 1000, tierMaxVal: 10000, tierUnitRate: overage, flatRate: false },
  { tierNum: 3, tierMinVal: 10000, tierMaxVal: null, tierUnitRate: 0.001, flatRate: false },
];

const card = (label: string, overage: number) => ({
  currency: 'USD',
  rows: [
    {
      priceDimName: 'api_calls',
      label,
      priceMethod: 'TIERED',
      rateCardTiers: tiers(overage),
    },
  ],
});

/** 1,000 calls a month are free, then 0.002 and 0.001 a call; priority calls cost a multiple. */
export const demoService = {
  name: 'API calls',
  code: 'api-calls',
  currency: 'USD',
  serviceType: 'Usage',
  priceableAttributes: [
    {
      name: 'api_calls',
      label: 'API calls',
      dimensionDataType: 'Number',
      isMeterDimension: true,
      meterResetFrequency: 'Monthly',
    },
  ],
  inputAttributes: [
    { name: 'priority', label: 'Priority factor', dimensionDataType: 'Number' },
    { name: 'region', label: 'Region', dimensionDataType: 'String' },
  ],
  rateCards: [card('API calls, list price', 0.002)],
  pricingLogic: [
    {
      name: 'Priority pricing',
      priceOutput: 'charge',
      transactionDimension: 'account',
      chargeType: 'Usage',
      steps: [
        { name: 'calls_price', formula: 'Price(api_calls, api_calls)' },
        { name: 'charge', formula: 'calls_price * priority' },
      ],
    },
  ],
};

/** The contract's own price: 0.0015 instead of 0.002 between 1,000 and 10,000 calls a month. */
export const demoContract = (masterAccountId: string, serviceId: string) => ({
  name: 'Acme 2026',
  masterAccountId,
  currency: 'USD',
  startDate: '2026-01-01',
  endDate: '2026-12-31',
  services: [
    {
      serviceId,
      serviceInstanceId: 'prod',
      startDate: '2026-01-01',
      chargeFrequency: 'Monthly',
      billingFrequency: 'Monthly',
      rateCards: [card('API calls, Acme price', 0.0015)],
    },
  ],
});

/** The event of `examples/usage.csv` whose charge is explained: it crosses a tier's bound. */
export const explainedEvent = 'demo-0005';
