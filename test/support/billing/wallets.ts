import { external, type TestTenant } from '../servers/instance.js';

let serial = 0;

/** A wallet of an account in USD, by its id; each has a title of its own. */
export async function createWallet(
  tenant: TestTenant,
  accountId: string,
  more: object = {},
): Promise<string> {
  serial += 1;
  const wallet = { title: `Wallet ${serial}`, accountId, currency: 'USD', ...more };
  const { body } = await tenant.post(`${external}/wallets`, wallet).expect(201);
  return body.id as string;
}

/** Money for a wallet: a purchased grant, unless `more` says otherwise. */
export async function addGrant(
  tenant: TestTenant,
  walletId: string,
  externalId: string,
  amount: number,
  more: object = {},
) {
  const grant = { externalId, amount, kind: 'purchased', ...more };
  return (await tenant.post(`/v1/wallets/${walletId}/grants`, grant).expect(201)).body;
}

/** An entry of a wallet's ledger. */
export interface Entry {
  readonly number: number;
  readonly kind: string;
  readonly externalId: string;
  readonly amount: number;
  readonly held: number | null;
  readonly balanceAfter: number;
  readonly createdAt: string;
}

/** The ledger of a wallet, or of it what a query chooses. */
export async function readEntries(
  tenant: TestTenant,
  walletId: string,
  query = '',
): Promise<Entry[]> {
  const { body } = await tenant.get(`/v1/wallets/${walletId}/entries${query}`).expect(200);
  return body.data as Entry[];
}

/** An entry in short, `draw -4 = 6`: its kind, what it moves or holds, and the balance after it. */
export const shortEntry = ({ kind, amount, held, balanceAfter }: Entry): string =>
  `${kind} ${held ?? amount} = ${balanceAfter}`;
