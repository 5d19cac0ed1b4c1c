import { external, type TestTenant } from '../servers/instance.js';

export const accounts = `${external}/accounts`;
export const noSuchId = '0190a000-0000-7000-8000-000000000000';

/** An account as its creation answered. */
export interface CreatedAccount {
  readonly id: string;
  readonly addresses: readonly [{ readonly id: string }];
}

export const makeAccount = async (tenant: TestTenant, body: object): Promise<CreatedAccount> =>
  (await tenant.post(accounts, body).expect(201)).body;
