import countries from 'i18n-iso-countries';
import en from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import { v5 } from 'uuid';

/** The ids are the same on every installation. */
const namespace = 'b6f5c3a8-3c55-5d0e-9a55-6f3a7f0d2b11';

const resetFrequencies = [
  'Daily',
  'Weekly',
  'Fortnightly',
  'Monthly',
  'Quarterly',
  'Half Yearly',
  'Yearly',
];

/** 0-decisions.md, section 1. */
const picklists = {
  serviceType: ['Usage', 'Subscription', 'OTC'],
  serviceStatus: ['Active', 'Inactive'],
  approvalStatus: ['Draft', 'Pending Approval', 'Approved', 'Rejected'],
  accountStatus: ['Active', 'Inactive'],
  customerType: ['Business', 'Individual'],
  netTerm: ['Due on Receipt', 'Net 7', 'Net 15', 'Net 30', 'Net 45', 'Net 60', 'Net 90'],
  paymentMethod: [
    'Cash',
    'Check',
    'Credit Card',
    'Debit Card',
    'Bank Transfer',
    'Wire Transfer',
    'ACH',
    'UPI',
    'Wallet',
    'Other',
  ],
  paymentType: ['Pay In', 'Pay Out'],
  paymentStatus: ['Pending', 'Completed', 'Failed', 'Cancelled', 'Refunded'],
  balanceStatus: ['Unapplied', 'Partially Applied', 'Applied'],
  paymentGlStatus: ['Pending', 'Posted'],
  chargeFrequency: [...resetFrequencies, 'One Time'],
  billingFrequency: [...resetFrequencies, 'One Time'],
  meterResetFrequency: resetFrequencies,
  invoiceStatus: ['Draft', 'Posted', 'Void'],
  invoicePaymentStatus: ['Unpaid', 'Partially Paid', 'Paid'],
  invoiceType: ['Invoice', 'Credit Note'],
  usageType: ['Charge', 'Payout'],
  chargeType: ['Usage', 'Subscription', 'All', 'OTC'],
  dimensionDataType: ['Number', 'String', 'Boolean', 'Date'],
};

/** The active codes of ISO 4217, without funds, metals and test codes. */
const currencyCodes = `
AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD
CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD
GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT
LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR
NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP
STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD
XCG XOF XPF YER ZAR ZMW ZWG`
  .trim()
  .split(/\s+/);

/** Names of codes younger than the ICU data of some Node releases. */
const youngCurrencies = { XCG: 'Caribbean Guilder', ZWG: 'Zimbabwe Gold' };

function currencyRows() {
  const names = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });
  return currencyCodes.map((code) => {
    const format = new Intl.NumberFormat('en', {
      style: 'currency',
      currency: code,
      currencyDisplay: 'narrowSymbol',
    });
    const symbol = format.formatToParts(1).find((part) => part.type === 'currency').value;
    return {
      id: v5(`currency/${code}`, namespace),
      code,
      name: names.of(code) ?? youngCurrencies[code] ?? code,
      symbol,
      // ICU says 0 for currencies whose coins are out of use; ISO 4217 is what invoices follow.
      minor_digits: minorDigits(code),
    };
  });
}

const withoutMinorUnit = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF';
const withThreeDigits = 'BHD IQD JOD KWD LYD OMR TND';
const minorDigits = (code) =>
  withoutMinorUnit.includes(code) ? 0 : withThreeDigits.includes(code) ? 3 : 2;

function countryRows() {
  countries.registerLocale(en);
  return Object.entries(countries.getNames('en', { select: 'official' })).map(([alpha2, name]) => ({
    id: v5(`country/${alpha2}`, namespace),
    name,
    alpha2_code: alpha2,
    alpha3_code: countries.alpha2ToAlpha3(alpha2),
  }));
}

function picklistRows() {
  return Object.entries(picklists).flatMap(([picklist, names]) =>
    names.map((name, position) => ({
      id: v5(`picklist/${picklist}/${name}`, namespace),
      picklist,
      name,
      position,
    })),
  );
}

export async function up(knex) {
  await knex.raw(`
    create table picklist_value (
      id uuid primary key,
      picklist text not null,
      name text not null,
      position integer not null
    );
    create unique index picklist_value_name on picklist_value (picklist, lower(name));

    create table currency (
      id uuid primary key,
      code text not null constraint currency_code unique,
      name text not null constraint currency_name unique,
      symbol text not null,
      minor_digits integer not null
    );

    create table country (
      id uuid primary key,
      name text not null constraint country_name unique,
      alpha2_code text not null constraint country_alpha2_code unique,
      alpha3_code text not null constraint country_alpha3_code unique
    );
  `);
  await knex('picklist_value').insert(picklistRows());
  await knex('currency').insert(currencyRows());
  await knex('country').insert(countryRows());
}

export async function down(knex) {
  await knex.raw('drop table country, currency, picklist_value');
}
