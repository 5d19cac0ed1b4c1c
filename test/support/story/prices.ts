/** What a dimension of a service is: a number, unless `more` says otherwise. */
export const attribute = (name: string, more: object = {}) => ({
  name,
  dimensionDataType: 'Number',
  ...more,
});

/** A dimension whose counter goes on from event to event, and begins anew with each month. */
export const meteredByMonth = { isMeterDimension: true, meterResetFrequency: 'Monthly' };

/** A row that prices a dimension of the same name as `prices` says, such as `tiers(…)`. */
export const row = (name: string, prices: object) => ({
  priceDimName: name,
  label: name,
  ...prices,
});

/** A row that charges so much for each. */
export const priceOfEach = (name: string, unitRate: number, more: object = {}) =>
  row(name, { priceMethod: 'QUANTITY', unitRate, ...more });

/** A row that charges so much, however many there are. */
export const flatPrice = (name: string, flatRate: number, more: object = {}) =>
  row(name, { priceMethod: 'FLAT_RATE', flatRate, ...more });

export const usdCard = (...rows: readonly object[]) => ({ currency: 'USD', rows });

/** A service that charges for time, by days, as its row says. */
export const subscriptionOf = (price: { readonly label: string }, more: object = {}) => ({
  serviceType: 'Subscription',
  priceableAttributes: [attribute(price.label, { isProration: true })],
  rateCards: [usdCard(price)],
  ...more,
});

/** A service that charges so much a period, by days. */
export const subscription = (label: string, unitRate: number, more: object = {}) =>
  subscriptionOf(priceOfEach(label, unitRate), more);

/** How often a line is charged and billed. */
export const every = (frequency: 'Daily' | 'Weekly' | 'Monthly' | 'Quarterly' | 'Yearly') => ({
  chargeFrequency: frequency,
  billingFrequency: frequency,
});
