import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';
import { startFlow } from '../../oauth/authorization.js';
import { registerClient } from '../../oauth/registration.js';

export const oauthHandlers: Handlers<Operations['oauth']> = {
  register: ({ body }, scope, platform, { address }) =>
    registerClient(platform, body, { ...scope, address }),
  authorize: ({ query }, _scope, platform, caller) => startFlow(platform, query, caller),
};
