import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { examples } from '../openapi/examples.js';
import {
  CurrencyCode,
  nullable,
  optional,
  Text,
  updateBody,
  Uuid,
  writeBody,
} from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { pageQuery, searchQuery, viewQuery } from '../http/paging.js';
import { rowSpec } from '../http/row.js';
import { RecordId } from '../http/record-id.js';

/** A number that is 0 when it is left out. */
const unsigned = (description: string) =>
  optional(DecimalValue({ description: `${description}; 0 when left out.`, minimum: '0' }));

/** Computed from the ledger: taken from a body and not kept. */
const computed = (description: string) =>
  optional(DecimalValue({ description: `${description}; computed, what is given is not kept.` }));

export const WalletCreate = writeBody(
  {
    title: Text('Title, unique among the wallets.'),
    accountId: RecordId('account', 'Account that owns the wallet.'),
    currency: optional(
      CurrencyCode(
        'Currency code or name of the amounts; with neither it nor a unit that of the account from the first grant on.',
      ),
    ),
    unit: optional(Text('What the amounts count when they are no money.')),
    balance: optional(
      DecimalValue({
        description:
          'What is in the wallet at first: the purchased grant `opening`; 0 when left out.',
        minimum: '0',
      }),
    ),
    availableBalance: computed('What of the balance no hold was promised'),
    reservedBalance: computed('What of the balance holds were promised'),
    frozenAmount: unsigned('What of it is frozen'),
    isActive: optional(
      Type.Boolean({ description: 'Whether it may be used; true when left out.' }),
    ),
    customerId: optional(Text('Identifier of the customer at the payment processor.')),
    enableDisableTopUp: optional(
      Type.Boolean({ description: 'Whether it is topped up; false when left out.' }),
    ),
    thresholdTopUpAmount: unsigned('Balance below which it is topped up'),
    autoTopUpAmount: unsigned('Amount of a top-up'),
  },
  { description: 'A wallet to create.' },
);
export const WalletUpdate = updateBody(WalletCreate, ['isActive']);

export const Wallet = Type.Object(
  {
    id: Uuid('Id of the wallet.'),
    title: Type.String({ description: 'Title of the wallet.' }),
    accountId: Uuid('Account that owns the wallet.'),
    balance: DecimalValue({ description: 'What is in the wallet.' }),
    availableBalance: DecimalValue({ description: 'What of it no hold was promised.' }),
    reservedBalance: DecimalValue({ description: 'What of it holds were promised.' }),
    frozenAmount: DecimalValue({ description: 'What of it is frozen.' }),
    currency: nullable(Type.String({ description: 'ISO code of the currency of the amounts.' })),
    unit: nullable(Type.String({ description: 'What the amounts count when they are no money.' })),
    isActive: Type.Boolean({ description: 'Whether it may be used.' }),
    approvalStatus: Type.String({ description: 'Draft, Pending Approval, Approved or Rejected.' }),
    customerId: nullable(
      Type.String({ description: 'Identifier of the customer at the payment processor.' }),
    ),
    enableDisableTopUp: Type.Boolean({ description: 'Whether it is topped up.' }),
    thresholdTopUpAmount: DecimalValue({ description: 'Balance below which it is topped up.' }),
    autoTopUpAmount: DecimalValue({ description: 'Amount of a top-up.' }),
  },
  { description: 'A wallet.' },
);

const walletRow = rowSpec('Wallet', Wallet, {
  currency: 'currency',
  approvalStatus: 'approvalStatus',
});

const tag = 'Wallets';
const walletPath = external('/wallets/{walletId}');

/** spec/resources.md R78 to R80. */
export const walletOperations = {
  list: operation({
    id: 'listWallets',
    method: 'GET',
    path: external('/wallets'),
    tag,
    summary: 'List wallets by title',
    query: Type.Object({
      ...pageQuery,
      ...searchQuery('the title or customerId'),
      accountId: Type.Optional(RecordId('account', 'The account that owns them.')),
    }),
    details: 'A page of rows.',
    success: reply.rowPage(walletRow),
    errors: [400],
  }),
  get: operation({
    id: 'getWallet',
    method: 'GET',
    path: walletPath,
    tag,
    summary: 'Read a wallet',
    query: Type.Object(viewQuery),
    details: 'With its balance and its settings for topping up.',
    success: reply.dto(Wallet, walletRow),
    errors: [400, 404],
  }),
  create: operation({
    id: 'createWallet',
    method: 'POST',
    path: external('/wallets'),
    tag,
    summary: 'Create a wallet',
    body: WalletCreate,
    example: examples.wallet,
    access: 'operator',
    details:
      'Its balance becomes the purchased grant `opening`; later money comes by further grants. Numbers that are left out are 0.',
    success: reply.created(Wallet),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateWallet',
    method: 'PUT',
    path: walletPath,
    tag,
    summary: 'Change a wallet',
    body: WalletUpdate,
    example: examples.walletUpdate,
    access: 'operator',
    details:
      'What is left out stays. A balance is 400: grants, charges and holds move it. Account and currency stay once it has had a grant (409).',
    success: reply.dto(Wallet),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteWallet',
    method: 'DELETE',
    path: walletPath,
    tag,
    summary: 'Delete a wallet',
    access: 'operator',
    details:
      'Whatever its balance is: charges draw on it no more. One of which money is held is 409.',
    success: reply.empty(),
    errors: [404, 409],
  }),
};
