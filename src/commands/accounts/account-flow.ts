import type { Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import type { Draft } from '../../models/flows/draft.js';
import { getAccount } from '../../queries/accounts/account.js';
import { type AccountCreate, AccountUpdate } from '../../schemas/accounts/account.js';
import type { StartOf } from '../../schemas/flows/flow.js';
import type { Flows } from '../../schemas/flows/index.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import { createAccount, createAddress, setTaxLabels, updateAccount } from './account.js';
import {
  createByFlow,
  requireDraft,
  saveByFlow,
  type Drafted,
  type FlowSave,
} from '../flows/save-by-flow.js';

type Onboarding = StartOf<Flows['createAccount']>;
type AccountDto = Awaited<ReturnType<typeof createAccount>>;

/** Input of the onboarding step: a new account gets the id of the execution. */
export interface OnboardingStep {
  readonly accountId: string;
  readonly draftId: string | undefined;
  readonly start: Onboarding;
}

const accountOf = (start: Onboarding) => ({
  name: start.Name ?? start.Company_Name,
  defaultCurrency: start.Currency,
  ...defined({ externalId: start.ExternalId }),
  profile: { organization: start.Company_Name },
});

const contactOf = (start: Onboarding) => ({
  firstName: start.First_Name,
  lastName: start.Last_Name,
});

const addressOf = (start: Onboarding) => ({
  line1: start.Line1,
  line2: start.Line2 ?? null,
  city: start.City,
  state: start.State,
  zipCode: start.Zip_Code,
  country: start.Country,
});

/**
 * The body that creates the account with its contact and its address. A draft creates the account
 * alone: contact and address are added when the draft is completed.
 */
function newAccount(start: Onboarding, isDraft: boolean): Static<typeof AccountCreate> {
  const account = accountOf(start);
  if (isDraft) return account;
  const contact = contactOf(start);
  return {
    ...account,
    profile: { ...account.profile, ...contact },
    contactInfoList: [contact],
    addresses: [addressOf(start)],
  };
}

/**
 * Adds what the draft of an onboarding has not created yet; a draft of a change leaves nothing
 * open.
 */
async function completeAccount(
  scope: Scope,
  saved: AccountDto,
  draft: Draft,
  latest?: Onboarding,
): Promise<AccountDto> {
  if (draft.workflow !== 'createAccount') return saved;
  const start = latest ?? (draft.input as Onboarding);
  const contact = contactOf(start);
  await updateAccount(scope, saved.id, { contactInfoList: [contact], profile: contact });
  await createAddress(scope, saved.id, addressOf(start));
  return getAccount(scope.db.read, scope.tenantId, saved.id);
}

/**
 * Onboarding: creates the account `accountId` with its contact and its address, saves it as a
 * draft, or completes the draft `draftId`. 404: there is no such draft. 409: the external id is
 * taken.
 */
export async function onboardAccount(
  scope: Scope,
  save: FlowSave,
  { accountId, draftId, start }: OnboardingStep,
): Promise<Drafted<AccountDto>> {
  if (draftId === undefined) {
    return createByFlow(scope, save, (inner) =>
      createAccount(inner, newAccount(start, save.isDraft), accountId),
    );
  }
  return saveByFlow(
    scope,
    save,
    async (inner) => {
      await requireDraft(inner, 'account', draftId);
      return updateAccount(inner, draftId, accountOf(start));
    },
    (inner, saved, draft) => completeAccount(inner, saved, draft, start),
  );
}

/** The fields that the edit flow may change, under their names in commands. */
interface AccountEdit {
  readonly id: string;
  readonly status?: string;
  readonly gst?: string | null;
  readonly pan?: string | null;
  readonly cin?: string | null;
}

/**
 * The contacts after the name in the profile has changed: the first contact has the same name,
 * since onboarding writes both. Undefined where the change has no name.
 */
function renamedContacts(
  { firstName, lastName }: NonNullable<AccountProfileChange>,
  [first = {}, ...others]: readonly object[],
): Record<string, unknown>[] | undefined {
  if (firstName === undefined && lastName === undefined) return undefined;
  const name = defined({ firstName, lastName });
  const kept = Object.entries({ ...first, ...name }).filter(([, value]) => value !== null);
  return [Object.fromEntries(kept), ...(others as Record<string, unknown>[])];
}

type AccountProfileChange = Static<typeof AccountUpdate>['profile'];

/** Changes what is given of an account; a draft is completed. 404: there is none. 409: a key is taken. */
export async function editAccount(
  scope: Scope,
  save: FlowSave,
  resolved: Readonly<Record<string, unknown>>,
): Promise<Drafted<AccountDto>> {
  const { id, status, gst, pan, cin, ...fields } = resolved as unknown as AccountEdit;
  const update: Static<typeof AccountUpdate> = reviveInput(AccountUpdate, fields);
  const taxLabels = defined({ gst, pan, cin });
  const change = (inner: Scope) =>
    inner.db.transaction(async (trx) => {
      const { contactInfoList: contacts } = await updateAccount(inner, id, update);
      const renamed = renamedContacts(update.profile ?? {}, contacts);
      if (renamed) await updateAccount(inner, id, { contactInfoList: renamed });
      if (Object.keys(taxLabels).length > 0) await setTaxLabels(inner, id, taxLabels);
      if (status !== undefined) {
        await Account.query(trx).forTenant(scope.tenantId).where({ id }).patch({ status });
      }
      return getAccount(trx, scope.tenantId, id);
    });
  return saveByFlow(scope, save, change, completeAccount);
}
