import type { Attacker } from './attacker.js';

/** What one tenant, or somebody without one, does to the product while a neighbour works with it. */
export interface Attack {
  readonly name: string;
  /** Operations whose most expensive allowed request is part of it. */
  readonly operations?: readonly string[];
  /** Among the worst dozen, which `--short` runs. */
  readonly isShort?: true;
  /** Longer or shorter than the usual time. */
  readonly seconds?: number;
  /** `alive`: something that all need is away, so that only the process itself is judged. */
  readonly judges?: 'all' | 'alive';
  /** It asks for what is not there, and is answered 404. */
  readonly findsNothing?: true;
  /** Whether meanwhile the neighbour's events must be rated within a second of being sent. */
  readonly asksForRating?: true;
  /** Whether it needs a product that sends webhooks to this machine. */
  readonly needsPrivateWebhooks?: true;
  /**
   * It leaves usage that takes minutes to be rated. It comes after all others: what it has left to do
   * would be a second attack beside each of them.
   */
  readonly leavesUsage?: true;
  /** Sends until the attacker's time is over. */
  run(attacker: Attacker): Promise<void>;
}
