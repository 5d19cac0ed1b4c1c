import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Picklist } from '../../kernel/picklist-field.js';
import { examples } from '../openapi/examples.js';
import {
  CountryName,
  CurrencyCode,
  FreeObject,
  FreeText,
  nullable,
  optional,
  Text,
  updateBody,
  Uuid,
  writeBody,
} from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { Flag, pageQuery, searchQuery } from '../http/paging.js';
import { rowSpec } from '../http/row.js';

const AddressFields = {
  accountId: optional(
    Uuid('Account of the address; may be left out, and must be that of the path.'),
  ),
  line1: Text('First line of the address.'),
  line2: optional(Text('Second line of the address.')),
  city: optional(Text('City.')),
  state: optional(Text('State or province.')),
  zipCode: optional(Text('Postal code.', 32)),
  country: optional(CountryName('Country name, alpha-2 or alpha-3 code.')),
  taxId: optional(Text('Tax number that belongs to this address.', 64)),
};

export const Address = Type.Object(
  {
    id: Uuid('Id of the address.'),
    accountId: Uuid('Account of the address.'),
    line1: Type.String({ description: 'First line of the address.' }),
    line2: nullable(Type.String({ description: 'Second line of the address.' })),
    city: nullable(Type.String({ description: 'City.' })),
    state: nullable(Type.String({ description: 'State or province.' })),
    zipCode: nullable(Type.String({ description: 'Postal code.' })),
    country: nullable(Type.String({ description: 'Country name.' })),
    taxId: nullable(Type.String({ description: 'Tax number that belongs to this address.' })),
  },
  { description: 'An address of a billing account.' },
);

export const AddressCreate = writeBody(AddressFields, { description: 'An address.' });
export const AddressUpdate = updateBody(AddressCreate);

const taxLabel = (description: string) => optional(Text(description, 64));

/** Tax numbers; the upper-case names are aliases (spec/resources.md R31). */
export const TaxLabels = writeBody(
  {
    gst: taxLabel('GST number.'),
    pan: taxLabel('PAN number.'),
    cin: taxLabel('CIN number.'),
    GST: taxLabel('Another name of gst.'),
    PAN: taxLabel('Another name of pan.'),
    CIN: taxLabel('Another name of cin.'),
  },
  { description: 'The tax numbers to set.' },
);

/** What flows and screens ask of a customer beyond what billing needs. */
const ProfileFields = {
  firstName: optional(Text('First name of its contact.')),
  lastName: optional(Text('Last name of its contact.')),
  customerType: optional(Picklist('customerType', { description: 'Business or Individual.' })),
  description: optional(FreeText('What there is to say of it.')),
  kycFlag: optional(Type.Boolean({ description: 'Whether the customer was identified.' })),
  taxStatus: optional(Text('How it is taxed. Kept, without effect: see taxExempt.')),
  taxExempt: optional(Type.Boolean({ description: 'Whether it pays no tax.' })),
  invoicingDay: optional(
    Type.Integer({
      minimum: 1,
      maximum: 31,
      description: 'Day on which its invoices are sent. Kept, without effect: see billingDay.',
    }),
  ),
  organization: optional(Text('Organization that it belongs to.')),
  email: optional(Text('E-mail address.')),
  phone: optional(Text('Telephone number.')),
  mobile: optional(Text('Mobile number.')),
  website: optional(Text('Web address.')),
  industry: optional(Text('Line of business.')),
  language: optional(Text('Language of the customer. Kept, without effect.')),
  timeZone: optional(Text('Time zone. Kept, without effect: days are those of UTC.')),
  creditLimit: optional(
    DecimalValue({ description: 'How much it may owe. Kept, without effect.', minimum: '0' }),
  ),
  paymentMethod: optional(
    Picklist('paymentMethod', { description: 'How it pays. Kept, without effect.' }),
  ),
  purchaseOrder: optional(
    Text(
      "Number of the customer's standing order. Kept, without effect: see poNumber of contracts.",
    ),
  ),
  billingEmail: optional(Text('E-mail address for its invoices. Kept, without effect.')),
  segment: optional(Text('Group of customers that it belongs to.')),
  salesPerson: optional(Text('Who looks after it.')),
};

export const AccountProfile = writeBody(ProfileFields, {
  description: 'Further facts of the customer; in a PUT those that are given change.',
});

const AccountFields = {
  number: optional(Text('Account number, unique among the accounts.')),
  externalId: optional(Text('Key of the account in your systems; usage events name it.')),
  billingDay: optional(
    Type.Integer({
      minimum: 1,
      maximum: 31,
      description: 'Day of the month of its invoices: runs without that day leave the account out.',
    }),
  ),
  netTerm: optional(Picklist('netTerm', { description: 'When its invoices are due.' })),
  defaultCurrency: optional(CurrencyCode('Currency code or name for usage without a contract.')),
  isMaster: optional(
    Type.Boolean({
      description: 'Whether other accounts are billed through it. Kept, without effect.',
    }),
  ),
  contactInfoList: optional(
    Type.Array(FreeObject('A contact.'), { maxItems: 1000, description: 'Contacts, as sent.' }),
  ),
  accountPaymentProfileList: optional(
    Type.Array(FreeObject('A payment profile.'), {
      maxItems: 1000,
      description: 'Payment profiles, as sent.',
    }),
  ),
  profile: optional(AccountProfile),
};

export const AccountCreate = writeBody(
  {
    name: Text('Name of the account.'),
    ...AccountFields,
    addresses: optional(
      Type.Array(AddressCreate, { maxItems: 1000, description: 'Its addresses.' }),
    ),
  },
  { description: 'A billing account to create.', ignore: ['status', 'gst', 'pan', 'cin'] },
);
export const AccountUpdate = updateBody(AccountCreate);

const AccountHeader = {
  id: Uuid('Id of the account.'),
  name: Type.String({ description: 'Name of the account.' }),
  number: nullable(Type.String({ description: 'Account number.' })),
  externalId: nullable(Type.String({ description: 'Key of the account in your systems.' })),
  status: Type.String({ description: 'Active or Inactive.' }),
  approvalStatus: Type.String({ description: 'Draft, Pending Approval, Approved or Rejected.' }),
  billingDay: nullable(Type.Integer({ description: 'Day of the month of its invoices.' })),
  netTerm: nullable(Type.String({ description: 'When its invoices are due.' })),
  defaultCurrency: nullable(Type.String({ description: 'ISO code of its currency.' })),
  isMaster: Type.Boolean({ description: 'Whether other accounts are billed through it.' }),
  gst: nullable(Type.String({ description: 'GST number.' })),
  pan: nullable(Type.String({ description: 'PAN number.' })),
  cin: nullable(Type.String({ description: 'CIN number.' })),
  profile: Type.Object(ProfileFields, { description: 'Further facts of the customer.' }),
};

/** The account without its collections: what a row shows. */
export const AccountSummary = Type.Object(AccountHeader, {
  description: 'A billing account without its collections.',
});

export const Account = Type.Object(
  {
    ...AccountHeader,
    addresses: Type.Array(Address, { description: 'Its addresses.' }),
    contactInfoList: Type.Array(FreeObject('A contact.'), { description: 'Contacts.' }),
    accountPaymentProfileList: Type.Array(FreeObject('A payment profile.'), {
      description: 'Payment profiles.',
    }),
  },
  { description: 'A billing account.' },
);

const accountRow = rowSpec('Account', AccountSummary, {
  status: 'accountStatus',
  approvalStatus: 'approvalStatus',
  netTerm: 'netTerm',
  defaultCurrency: 'currency',
});

const AccountOrder = Type.Unsafe<'name' | 'created'>({
  type: 'string',
  enum: ['name', 'created'],
  description: 'name (default), or created: the newest last.',
});

const tag = 'Accounts';
const accountPath = external('/accounts/{accountId}');
const addressesPath = external('/accounts/{accountId}/addresses');
const addressPath = external('/accounts/{accountId}/addresses/{addressId}');

const addressOperations = {
  listAddresses: operation({
    id: 'listAddresses',
    method: 'GET',
    path: addressesPath,
    tag,
    summary: 'List the addresses of an account',
    query: Type.Object(pageQuery),
    details: 'In the order in which they were added.',
    success: reply.page(Address),
    errors: [400, 404],
  }),
  getAddress: operation({
    id: 'getAddress',
    method: 'GET',
    path: addressPath,
    tag,
    summary: 'Read an address',
    details: 'The address must be one of this account.',
    success: reply.dto(Address),
    errors: [404],
  }),
  createAddress: operation({
    id: 'createAddress',
    method: 'POST',
    path: addressesPath,
    tag,
    summary: 'Add an address to an account',
    body: AddressCreate,
    example: examples.address,
    access: 'operator',
    details: 'A country is taken by name, alpha-2 or alpha-3 code and shown by name.',
    success: reply.created(Address),
    errors: [400, 404, 409],
  }),
  updateAddress: operation({
    id: 'updateAddress',
    method: 'PUT',
    path: addressPath,
    tag,
    summary: 'Change an address',
    body: AddressUpdate,
    example: examples.addressUpdate,
    access: 'operator',
    details: 'What is left out stays, null clears.',
    success: reply.dto(Address),
    errors: [400, 404],
  }),
  deleteAddress: operation({
    id: 'deleteAddress',
    method: 'DELETE',
    path: addressPath,
    tag,
    summary: 'Delete an address',
    access: 'operator',
    details: '404 when the account has no such address.',
    success: reply.empty(),
    errors: [404],
  }),
};

export const accountOperations = {
  list: operation({
    id: 'listAccounts',
    method: 'GET',
    path: external('/accounts'),
    tag,
    summary: 'List accounts',
    query: Type.Object({
      ...pageQuery,
      ...searchQuery('the name, number or externalId'),
      order: Type.Optional(AccountOrder),
    }),
    details:
      'By name, a page of rows; q finds parts of names, numbers and external ids. To read all page by page ' +
      'while others add some, order them by creation: by name a new one shifts those after it.',
    success: reply.rowPage(accountRow),
    errors: [400],
  }),
  getByExternalId: operation({
    id: 'getAccountByExternalId',
    method: 'GET',
    path: external('/accounts/by-external-id/{externalId}'),
    textParams: ['externalId'],
    tag,
    summary: 'Read an account by its external id',
    details: 'For whoever knows an account by its name in systems of their own.',
    success: reply.row(accountRow),
    errors: [404],
  }),
  get: operation({
    id: 'getAccount',
    method: 'GET',
    path: accountPath,
    textParams: ['accountId'],
    tag,
    summary: 'Read an account',
    query: Type.Object({ isExternal: Flag('Whether the path holds the externalId.') }),
    details: 'By id; with isExternal=true the path holds the external id.',
    success: reply.row(accountRow),
    errors: [400, 404],
  }),
  create: operation({
    id: 'createAccount',
    method: 'POST',
    path: external('/accounts'),
    tag,
    summary: 'Create an account with its addresses',
    body: AccountCreate,
    example: examples.account,
    access: 'operator',
    details:
      'Whoever uses or is billed needs one; usage events name its externalId as billingAccountRef.',
    success: reply.created(Account),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateAccount',
    method: 'PUT',
    path: accountPath,
    tag,
    summary: 'Change an account; addresses, when present, replace its addresses',
    body: AccountUpdate,
    example: examples.accountUpdate,
    access: 'operator',
    details: 'What is left out stays, null clears. Invoices that are posted do not change with it.',
    success: reply.dto(Account),
    errors: [400, 404, 409],
  }),
  activate: operation({
    id: 'activateAccount',
    method: 'PUT',
    path: external('/accounts/{accountId}/activate'),
    tag,
    summary: 'Activate an account: its usage is rated',
    access: 'operator',
    details: 'Events that were rejected with ACCOUNT_INACTIVE meanwhile can be rated again.',
    success: reply.row(accountRow),
    errors: [404],
  }),
  deactivate: operation({
    id: 'deactivateAccount',
    method: 'PUT',
    path: external('/accounts/{accountId}/deactivate'),
    tag,
    summary: 'Deactivate an account: its usage is rejected',
    access: 'operator',
    details: 'Events are kept as rejected with ACCOUNT_INACTIVE; nothing that was rated changes.',
    success: reply.row(accountRow),
    errors: [404],
  }),
  setTaxLabels: operation({
    id: 'setAccountTaxLabels',
    method: 'PUT',
    path: external('/accounts/{accountId}/tax-labels'),
    tag,
    summary: 'Set the tax numbers of an account',
    body: TaxLabels,
    example: examples.taxLabels,
    access: 'operator',
    details: 'Those that are left out stay as they are, null clears.',
    success: reply.row(accountRow),
    errors: [400, 404],
  }),
  delete: operation({
    id: 'deleteAccount',
    method: 'DELETE',
    path: accountPath,
    tag,
    summary: 'Delete an account and its addresses',
    access: 'operator',
    details: '409 while it has contracts, invoices or other records that need it.',
    success: reply.empty(),
    errors: [404, 409],
  }),
  ...addressOperations,
};
