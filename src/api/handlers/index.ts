import type { Operations } from '../../schemas/index.js';
import type { Handlers } from '../mount.js';
import { accountHandlers } from './account.js';
import { referenceDataHandlers } from './reference-data.js';

export const handlers: { readonly [K in keyof Operations]: Handlers<Operations[K]> } = {
  account: accountHandlers,
  referenceData: referenceDataHandlers,
};
