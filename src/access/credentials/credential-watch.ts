import type { Knex } from 'knex';
import type { Identity } from '../authenticate.js';
import { endedCredentials } from '../token-revocations.js';

/** How often what is open is compared with what was taken back. */
const everyMs = 5_000;

interface Watched {
  readonly identity: Identity;
  readonly end: () => void;
}

/**
 * Ends what stays open under a credential (a stream of events) once that was taken back: a request is
 * checked when it comes, and these come once. One statement asks for all of a process, so that
 * thousands of pages cost it next to nothing. Ends by time are their own matter.
 */
export class CredentialWatch {
  readonly #db: Knex;
  readonly #now: () => Date;
  readonly #watched = new Set<Watched>();
  #isPlanned = false;

  constructor(db: Knex, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  /** Calls `end` once the credential is taken back, until the function that is returned is called. */
  watch(identity: Identity, end: () => void): () => void {
    const watched = { identity, end };
    this.#watched.add(watched);
    this.#plan();
    return () => void this.#watched.delete(watched);
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setTimeout(() => void this.#look(), everyMs).unref();
  }

  async #look(): Promise<void> {
    const asked = [...this.#watched];
    try {
      const ended = await endedCredentials(
        this.#db,
        asked.map(({ identity }) => identity),
        this.#now(),
      );
      for (const at of ended) asked[at]?.end();
    } catch {
      // A database that is away ends nothing: it is asked again.
    } finally {
      this.#isPlanned = false;
      if (this.#watched.size > 0) this.#plan();
    }
  }
}
