import { InvalidArgumentError, type Command } from 'commander';
import { eventKindsText, isEventKind } from '../../messages/definitions/event.js';
import { webhookEvents, type WebhookEvent } from '../../messages/webhook.js';

function parseEvents(text: string): WebhookEvent[] {
  const given = text.split(',').map((name) => name.trim());
  const unknown = given.find((name) => !isEventKind(name));
  if (unknown === undefined) return [...new Set(given)].filter(isEventKind);
  throw new InvalidArgumentError(`'${unknown}' is no kind of event; there are: ${eventKindsText}.`);
}

/** `durabill webhook listen`: shows the webhooks of a tenant as they arrive. */
export function registerWebhook(program: Command): void {
  const group = program.command('webhook').description('Watch webhooks.');
  group
    .command('listen')
    .description('Register a webhook for this terminal and print what arrives, verified.')
    .option('--tenant <id>', 'tenant to listen for, when no token is given', 'default')
    .option('--token <token>', 'token or access key with the role ADMIN, instead of --tenant')
    .option('--url <address>', 'API to register at; the running instance by default')
    .option('--events <kinds>', 'only these, with commas', parseEvents, [...webhookEvents])
    .addHelpText(
      'after',
      `
Each delivery is a line with its time, kind, webhook-id and signature, and a line with its body.
Ctrl-C ends it and removes the webhook. The instance must allow private addresses, as one with the
embedded database does (WEBHOOK_PRIVATE_ADDRESSES).`,
    )
    .action(async (options: WebhookListenOptions) => {
      const { listenToWebhooks } = await import('./webhook-listen.js');
      await listenToWebhooks(options);
    });
}

export interface WebhookListenOptions {
  readonly tenant: string;
  readonly token?: string;
  readonly url?: string;
  readonly events: readonly WebhookEvent[];
}
