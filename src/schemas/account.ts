import { Type } from 'typebox';
import { Picklist } from '../kernel/picklist-value.js';
import {
  CountryName,
  CurrencyCode,
  nullable,
  optional,
  Text,
  updateBody,
  Uuid,
  writeBody,
} from './field.js';
import { external, operation, reply } from './operation.js';
import { Flag, pageQuery, searchQuery } from './paging.js';
import { rowSpec } from './row.js';

const JsonObject = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description });

const AddressFields = {
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

/** `accountId` comes from the path; sent back in a body it is ignored. */
export const AddressCreate = writeBody(AddressFields, {
  description: 'An address.',
  ignore: ['accountId'],
});

const AccountFields = {
  number: optional(Text('Account number, unique among the accounts.')),
  externalId: optional(Text('Key of the account in your systems; usage events name it.')),
  billingDay: optional(
    Type.Integer({ minimum: 1, maximum: 31, description: 'Day of the month of its invoices.' }),
  ),
  isMaster: optional(
    Type.Boolean({ description: 'Whether other accounts are billed through it.' }),
  ),
  netTerm: optional(Picklist('netTerm', { description: 'When its invoices are due.' })),
  defaultCurrency: optional(CurrencyCode('Currency code or name for usage without a contract.')),
  contactInfoList: optional(
    Type.Array(JsonObject('A contact.'), { maxItems: 1000, description: 'Contacts, as sent.' }),
  ),
  accountPaymentProfileList: optional(
    Type.Array(JsonObject('A payment profile.'), {
      maxItems: 1000,
      description: 'Payment profiles, as sent.',
    }),
  ),
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
  billingDay: nullable(Type.Integer({ description: 'Day of the month of its invoices.' })),
  isMaster: Type.Boolean({ description: 'Whether other accounts are billed through it.' }),
  netTerm: nullable(Type.String({ description: 'When its invoices are due.' })),
  defaultCurrency: nullable(Type.String({ description: 'ISO code of its currency.' })),
  status: Type.String({ description: 'Active or Inactive.' }),
  approvalStatus: Type.String({ description: 'Draft, Pending Approval, Approved or Rejected.' }),
  gst: nullable(Type.String({ description: 'GST number.' })),
  pan: nullable(Type.String({ description: 'PAN number.' })),
  cin: nullable(Type.String({ description: 'CIN number.' })),
};

/** The account without its collections: what a row shows. */
export const AccountSummary = Type.Object(AccountHeader, {
  description: 'A billing account without its collections.',
});

export const Account = Type.Object(
  {
    ...AccountHeader,
    contactInfoList: Type.Array(JsonObject('A contact.'), { description: 'Contacts.' }),
    accountPaymentProfileList: Type.Array(JsonObject('A payment profile.'), {
      description: 'Payment profiles.',
    }),
    addresses: Type.Array(Address, { description: 'Its addresses.' }),
  },
  { description: 'A billing account.' },
);

const accountRow = rowSpec('Account', AccountSummary, {
  status: 'accountStatus',
  approvalStatus: 'approvalStatus',
  netTerm: 'netTerm',
  defaultCurrency: 'currency',
});

const tag = 'Accounts';

export const accountOperations = {
  list: operation({
    id: 'listAccounts',
    method: 'GET',
    path: external('/accounts'),
    tag,
    summary: 'List accounts',
    query: Type.Object({ ...pageQuery, ...searchQuery('the name, number or externalId') }),
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
    success: reply.row(accountRow),
    errors: [404],
  }),
  get: operation({
    id: 'getAccount',
    method: 'GET',
    path: external('/accounts/{accountId}'),
    textParams: ['accountId'],
    tag,
    summary: 'Read an account',
    query: Type.Object({ isExternal: Flag('Whether the path holds the externalId.') }),
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
    success: reply.created(Account),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateAccount',
    method: 'PUT',
    path: external('/accounts/{accountId}'),
    tag,
    summary: 'Change an account; addresses, when present, replace its addresses',
    body: AccountUpdate,
    success: reply.dto(Account),
    errors: [400, 404, 409],
  }),
};
