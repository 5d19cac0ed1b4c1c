import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Picklist } from '../../kernel/picklist-field.js';
import { exampleIds } from '../openapi/examples.js';
import { CountryName, CurrencyCode, FreeText, optional, Text } from '../fields/field.js';
import { flow, named, Reference, startNode } from './flow.js';
import { RecordId } from '../http/record-id.js';

const text = (description: string) => optional(Text(description));

export const accountFlows = {
  createAccount: flow({
    slug: 'billing/account/create',
    name: 'Onboarding Flow',
    description: 'Makes an account with its contact and its address; all of it or nothing.',
    entity: 'account',
    keyField: 'ExternalId',
    start: startNode({
      Company_Name: Text('Name of the company.'),
      First_Name: Text('First name of its contact.'),
      Last_Name: Text('Last name of its contact.'),
      Line1: Text('First line of its address.'),
      City: Text('City of its address.'),
      State: Text('State or province of its address.'),
      Country: CountryName('Country name, alpha-2 or alpha-3 code.'),
      Currency: CurrencyCode('Currency code or name of the account.'),
      Zip_Code: Text('Postal code of its address.', 32),
      Name: text('Name of the account; the name of the company when left out.'),
      Line2: text('Second line of its address.'),
      ExternalId: named('externalId', text('Key of the account in your systems.')),
    }),
    example: {
      Company_Name: 'Acme Inc.',
      First_Name: 'Ann',
      Last_Name: 'Miller',
      Line1: '1 Main Street',
      City: 'Springfield',
      State: 'IL',
      Country: 'US',
      Currency: 'USD',
      Zip_Code: '62701',
      ExternalId: 'acme-inc',
    },
  }),
  editAccount: flow({
    slug: 'billing/account/edit',
    name: 'Account Edit Flow',
    description: 'Changes what is given of an account; one in draft is completed.',
    entity: 'account',
    keyField: 'id',
    start: startNode({
      id: RecordId('account', 'The account.'),
      name: Type.Optional(Text('Name of the account.')),
      first_name: named('profile.firstName', text('First name of its contact.')),
      last_name: named('profile.lastName', text('Last name of its contact.')),
      account_no: named('number', text('Account number.')),
      currency: named(
        'defaultCurrency',
        optional(Reference('currency', 'Currency: id, code or name.')),
      ),
      net_term: named(
        'netTerm',
        optional(Picklist('netTerm', { description: 'When its invoices are due.' })),
      ),
      account_status: named(
        'status',
        Type.Optional(Picklist('accountStatus', { description: 'Active or Inactive.' })),
      ),
      customer_type: named(
        'profile.customerType',
        profileOf('customerType', 'Business or Individual.'),
      ),
      description: named('profile.description', optional(FreeText('What there is to say of it.'))),
      external_id: named('externalId', text('Key of the account in your systems.')),
      kyc_flag: named(
        'profile.kycFlag',
        optional(Type.Boolean({ description: 'Whether the customer was identified.' })),
      ),
      tax_status: named('profile.taxStatus', text('How it is taxed. Kept, without effect.')),
      billing_day: named('billingDay', optional(day('Day of the month of its invoices.'))),
      invoicing_day: named(
        'profile.invoicingDay',
        optional(day('Day on which its invoices are sent. Kept, without effect.')),
      ),
      organization: named('profile.organization', text('Organization that it belongs to.')),
      email: named('profile.email', text('E-mail address.')),
      phone: named('profile.phone', text('Telephone number.')),
      mobile: named('profile.mobile', text('Mobile number.')),
      website: named('profile.website', text('Web address.')),
      industry: named('profile.industry', text('Line of business.')),
      language: named('profile.language', text('Language of the customer. Kept, without effect.')),
      time_zone: named('profile.timeZone', text('Time zone. Kept, without effect.')),
      gst: text('GST number.'),
      pan: text('PAN number.'),
      cin: text('CIN number.'),
      is_master: named(
        'isMaster',
        optional(
          Type.Boolean({
            description: 'Whether other accounts are billed through it. Kept, without effect.',
          }),
        ),
      ),
      tax_exempt: named(
        'profile.taxExempt',
        optional(Type.Boolean({ description: 'Whether it pays no tax.' })),
      ),
      credit_limit: named(
        'profile.creditLimit',
        optional(
          DecimalValue({ description: 'How much it may owe. Kept, without effect.', minimum: '0' }),
        ),
      ),
      payment_method: named(
        'profile.paymentMethod',
        profileOf('paymentMethod', 'How it pays. Kept, without effect.'),
      ),
      purchase_order: named(
        'profile.purchaseOrder',
        text("Number of the customer's standing order. Kept, without effect."),
      ),
      billing_email: named(
        'profile.billingEmail',
        text('E-mail address for its invoices. Kept, without effect.'),
      ),
      segment: named('profile.segment', text('Group of customers that it belongs to.')),
      sales_person: named('profile.salesPerson', text('Who looks after it.')),
    }),
    example: { id: exampleIds.account, net_term: 'Net 45', kyc_flag: true },
  }),
  deleteAccount: flow({
    slug: 'billing/account/delete',
    name: 'Account Delete Flow',
    description: 'Deletes an account that nothing refers to.',
    entity: 'account',
    keyField: 'id',
    start: startNode({ id: RecordId('account', 'The account.') }),
    example: { id: exampleIds.account },
  }),
  approveAccount: flow({
    slug: 'billing/account/approve',
    name: 'Account Approval',
    description: 'Approves an account; the execution and the audit say who did.',
    entity: 'account',
    keyField: 'ID_Account',
    start: startNode({ ID_Account: named('id', RecordId('account', 'The account.')) }),
    example: { ID_Account: exampleIds.account },
  }),
};

function day(description: string) {
  return Type.Integer({ minimum: 1, maximum: 31, description });
}

function profileOf(picklist: 'customerType' | 'paymentMethod', description: string) {
  return optional(Picklist(picklist, { description }));
}
