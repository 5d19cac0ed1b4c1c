/** The picklists (spec/platform.md R34). Their values are data: see the table `picklist_value`. */
export const picklistNames = [
  'serviceType',
  'serviceStatus',
  'approvalStatus',
  'accountStatus',
  'customerType',
  'netTerm',
  'paymentMethod',
  'paymentType',
  'paymentStatus',
  'balanceStatus',
  'paymentGlStatus',
  'chargeFrequency',
  'billingFrequency',
  'subscriptionChargeType',
  'meterResetFrequency',
  'invoiceStatus',
  'invoicePaymentStatus',
  'invoiceType',
  'usageType',
  'chargeType',
  'dimensionDataType',
] as const;

export type PicklistName = (typeof picklistNames)[number];

export interface PicklistValue {
  readonly id: string;
  readonly picklist: string;
  readonly name: string;
}

export interface Currency {
  readonly id: string;
  readonly code: string;
  readonly name: string;
  readonly symbol: string;
  /** Digits after the point of an invoiced amount: 2 for USD, 0 for JPY, 3 for KWD. */
  readonly minorDigits: number;
}

export interface Country {
  readonly id: string;
  readonly name: string;
  readonly code: string;
  readonly alpha2Code: string;
  readonly alpha3Code: string;
}

export interface ReferenceRows {
  readonly picklistValues: readonly PicklistValue[];
  readonly currencies: readonly Currency[];
  readonly countries: readonly Country[];
}

/**
 * Picklists, currencies and countries, found by any name that a request may use. The tables are
 * shared by all tenants and change only with a migration, so each process reads them once at its
 * start.
 */
export class ReferenceData {
  #rows: ReferenceRows = { picklistValues: [], currencies: [], countries: [] };
  // Under the canonical name, as rows show it, and under the folded one, as a caller may write it.
  readonly #picklists = new Map<string, Map<string, PicklistValue>>();
  readonly #currencies = new Map<string, Currency>();
  readonly #countries = new Map<string, Country>();
  readonly #byId = {
    picklistValues: new Map<string, PicklistValue>(),
    currencies: new Map<string, Currency>(),
  };

  /** Replaces what is known by the rows of the database. */
  load(rows: ReferenceRows): void {
    this.#rows = rows;
    this.#picklists.clear();
    this.#currencies.clear();
    this.#countries.clear();
    this.#byId.picklistValues.clear();
    this.#byId.currencies.clear();
    for (const value of rows.picklistValues) this.#byId.picklistValues.set(value.id, value);
    for (const currency of rows.currencies) this.#byId.currencies.set(currency.id, currency);
    for (const value of rows.picklistValues) {
      const values = this.#picklists.get(value.picklist) ?? new Map<string, PicklistValue>();
      values.set(fold(value.name), value);
      values.set(value.name, value);
      this.#picklists.set(value.picklist, values);
    }
    for (const currency of rows.currencies) {
      this.#currencies.set(fold(currency.name), currency);
    }
    // Codes last: were a name ever equal to another currency's code, the code would win.
    for (const currency of rows.currencies) {
      this.#currencies.set(fold(currency.code), currency).set(currency.code, currency);
    }
    for (const country of rows.countries) {
      for (const key of [country.name, country.alpha2Code, country.alpha3Code]) {
        this.#countries.set(fold(key), country);
      }
    }
  }

  /** Every picklist value, by picklist and in its order. */
  get picklistValues(): readonly PicklistValue[] {
    return this.#rows.picklistValues;
  }

  /** Every currency, by code. */
  get currencies(): readonly Currency[] {
    return this.#rows.currencies;
  }

  /** Every country, by name. */
  get countries(): readonly Country[] {
    return this.#rows.countries;
  }

  /** The value of that name, in any letter case. */
  picklistValue(picklist: string, name: string): PicklistValue | undefined {
    const values = this.#picklists.get(picklist);
    return values?.get(name) ?? values?.get(fold(name));
  }

  /** The allowed names, in their order, for messages and documentation. */
  picklistValueNames(picklist: string): string[] {
    return this.#rows.picklistValues
      .filter((value) => value.picklist === picklist)
      .map((value) => value.name);
  }

  /** By ISO 4217 code or by name, in any letter case. */
  currency(codeOrName: string): Currency | undefined {
    return this.#currencies.get(codeOrName) ?? this.#currencies.get(fold(codeOrName));
  }

  /** The value of that id, if it is one of this picklist. */
  picklistValueById(picklist: string, id: string): PicklistValue | undefined {
    const value = this.#byId.picklistValues.get(fold(id));
    return value?.picklist === picklist ? value : undefined;
  }

  /** By id, as rows and `/currencies` show it. */
  currencyById(id: string): Currency | undefined {
    return this.#byId.currencies.get(fold(id));
  }

  /** By name, alpha-2 or alpha-3 code, in any letter case. */
  country(nameOrCode: string): Country | undefined {
    return this.#countries.get(fold(nameOrCode));
  }
}

const fold = (text: string): string => text.trim().toLowerCase();

/** The one registry of this process. */
export const referenceData = new ReferenceData();
