import { webhookEvents, type WebhookEvent } from '../webhook.js';
import type { EventFilter } from './definition.js';

/** Kinds of events that tenants make themselves: none of ours will ever begin like them. */
export const ownEventForm = /^custom\.[a-z0-9][a-z0-9_-]{0,62}(\.[a-z0-9][a-z0-9_-]{0,62})?$/;

export const isOwnEvent = (kind: string): kind is WebhookEvent => ownEventForm.test(kind);

export const isEventKind = (kind: string): kind is WebhookEvent =>
  (webhookEvents as readonly string[]).includes(kind) || isOwnEvent(kind);

/** What those who name none of them are told. */
export const eventKindsText = `${webhookEvents.join(', ')}, or custom.<name> for an event of your own`;

/** What a task emits, its expressions evaluated. */
export interface EmittedEvent {
  /** The run of the task. */
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a task waits for. */
export interface AskedListener {
  /** The run of the task. */
  readonly seq: number;
  readonly filters: readonly EventFilter[];
  /** What the conditions read beside what an event says. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Runs of tasks whose events the execution has by now. */
  readonly forget: readonly number[];
}

/** Why a task looks at what it has heard: to see, or to stop listening. */
export interface ListenerLook {
  readonly seq: number;
  readonly isEnding: boolean;
}

/** An event that a task has waited for. */
export interface HeardEvent {
  readonly type: string;
  readonly time: string;
  readonly data: unknown;
}

/** The signal that tells an execution that a run of a task has heard its event. */
export const heardSignal = 'eventHeard';

/** Characters of what the conditions of a task read, and of what a task emits (spec/beyond.md R348, R349). */
export const eventLimits = { variables: 8_000, data: 65_536 } as const;
