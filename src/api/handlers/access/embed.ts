import { issueEmbed } from '../../../access/embeds.js';
import { requireAccount } from '../../../queries/access/embed.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const embedHandlers: Handlers<Operations['embed']> = {
  create: async ({ body }, scope, { tokens }) => {
    await requireAccount(scope, body.accountId);
    return issueEmbed(scope, tokens, body);
  },
};
