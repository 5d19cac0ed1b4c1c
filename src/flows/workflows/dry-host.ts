import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Host, HostCall, HostScope } from '../../interpreter/host.js';
import { taskError, TaskError } from '../../interpreter/task-error.js';
import { Portions } from '../../kernel/portions.js';
import type { ApprovalState, AskedApproval } from '../../messages/definitions/approval.js';
import type { AskedListener, EmittedEvent, HeardEvent } from '../../messages/definitions/event.js';
import type { KeptUndos, TaskRow, Undo } from '../../messages/definitions/task.js';

/** What a task is said to give in a dry run, or how it fails. */
export interface FakeResult {
  readonly output?: unknown;
  readonly error?: {
    readonly status: number;
    readonly type?: string | undefined;
    readonly title?: string | undefined;
    readonly detail?: string | undefined;
  };
}

/** What would be called. */
export interface DryCall {
  readonly seq: number;
  readonly path: string;
  readonly call: string;
  readonly with: unknown;
  readonly isUndo: boolean;
  /** Whether a result was given for it; without one it gives null, and an approval is given. */
  readonly isFaked: boolean;
}

/** What a dry run may take (spec/beyond.md R347). */
const dryLimits = { rows: 1_000, bytes: 1_000_000, ms: 20_000 } as const;

/** A dry run has to end before it is done. */
export class DryRunStopped extends Error {}

/** A branch of a fork that another has beaten, or that ended with another's failure. */
class DryCanceled extends Error {}

interface Sleeper {
  readonly at: number;
  readonly wake: (isCanceled: boolean) => void;
}

/**
 * Where a definition runs dry: nothing is called or written, and time jumps to the next thing that is
 * waited for (docs/decisions/0401).
 */
export class DryHost implements Host {
  /** Some milliseconds: of all dry runs of this process one goes on in each turn of the event loop. */
  readonly costAtOnce = 5_000;
  readonly rows = new Map<number, TaskRow>();
  readonly calls: DryCall[] = [];
  /** What would take tasks back, in blocks. */
  readonly undos = new Map<number, readonly Undo[]>();
  readonly #resultOf: (path: string, isNext: boolean) => FakeResult | undefined;
  readonly #isAbandoned: () => boolean;
  readonly #isCanceled = new AsyncLocalStorage<readonly DryScope[]>();
  readonly #began = performance.now();
  readonly #sleepers = new Set<Sleeper>();
  readonly #decisions = new Map<number, FakeResult | undefined>();
  readonly #events = new Map<number, HeardEvent>();
  readonly #portions = new Portions();
  readonly #rests = new Set<Promise<void>>();
  #resting: Promise<void> = Promise.resolve();
  #now: number;
  #bytes = 0;
  #isPumping = false;
  /** Whether something went on since it was looked at last. */
  #isActive = false;

  constructor(
    now: number,
    resultOf: (path: string, isNext: boolean) => FakeResult | undefined,
    isAbandoned: () => boolean,
  ) {
    this.#now = now;
    this.#resultOf = resultOf;
    this.#isAbandoned = isAbandoned;
  }

  now(): number {
    return this.#now;
  }

  time(): number {
    return this.#now;
  }

  /** Lets others of this process go on, too. */
  async keep(rows: readonly TaskRow[]): Promise<void> {
    for (const row of rows) {
      const known = this.rows.get(row.seq);
      this.rows.set(row.seq, { ...known, ...row, input: row.input ?? known?.input });
    }
    this.#checkLimits(rows);
    // One after the other and never at once, whatever the clock says: a race has one winner.
    const rest = this.#resting.then(() => this.#portions.rest()).then(() => nextTurn());
    this.#resting = rest;
    this.#rests.add(rest);
    await rest;
    this.#rests.delete(rest);
    this.#isActive = true;
  }

  #checkLimits(added: readonly unknown[]): void {
    // One after the other: fifty at once may be ten times as long as all of them may be.
    for (const one of added) {
      this.#bytes += JSON.stringify(one).length;
      if (this.#bytes > dryLimits.bytes) {
        throw new DryRunStopped('What the tasks are given and give is more than a dry run shows.');
      }
    }
    if (this.rows.size > dryLimits.rows) {
      throw new DryRunStopped(`A dry run shows at most ${dryLimits.rows} runs of tasks.`);
    }
    if (this.#isAbandoned()) throw new DryRunStopped('Nobody waits for it any more.');
    if (performance.now() - this.#began > dryLimits.ms) {
      throw new DryRunStopped(`A dry run takes at most ${dryLimits.ms / 1000} seconds.`);
    }
  }

  /** Notes a call, and gives what it is said to give. */
  async call(call: HostCall, rows: readonly TaskRow[]): Promise<unknown> {
    if (rows.length > 0) await this.keep(rows);
    return this.make({ ...call, isUndo: false });
  }

  make(call: Omit<DryCall, 'isFaked'>): unknown {
    const found = call.isUndo ? undefined : this.#resultOf(call.path, true);
    this.calls.push({ ...call, isFaked: found !== undefined });
    this.#checkLimits([call]);
    if (found?.error) {
      const { status, detail = 'A result that was given.', type, title } = found.error;
      throw taskError(call.path, status, detail, {
        ...(type === undefined ? {} : { type }),
        ...(title === undefined ? {} : { title }),
      });
    }
    return found?.output ?? null;
  }

  /** Nothing is written here, either; it counts as what is shown. */
  keepUndos({ block, calls }: KeptUndos): Promise<void> {
    this.undos.set(block, calls);
    this.#checkLimits(calls);
    return Promise.resolve();
  }

  openApproval(asked: AskedApproval): Promise<void> {
    const { seq, path, ...given } = asked;
    this.#decisions.set(seq, this.#resultOf(path, true));
    const isFaked = this.#decisions.get(seq) !== undefined;
    this.calls.push({ seq, path, call: 'durabill.approval', with: given, isUndo: false, isFaked });
    return Promise.resolve();
  }

  /** A result `{decision: "timeout"}` lets its time go by. */
  isDecided(seq: number): boolean {
    return this.#decisionOf(seq) !== 'timeout';
  }

  #decisionOf(seq: number): string {
    const { output } = this.#decisions.get(seq) ?? {};
    const { decision = 'approve' } = (output ?? {}) as { decision?: string };
    return decision;
  }

  lookAtApproval({ seq }: { readonly seq: number }): Promise<ApprovalState> {
    const decision = this.#decisionOf(seq);
    const approvalId = '00000000-0000-0000-0000-000000000000';
    if (decision === 'timeout') {
      return Promise.resolve({ approvalId, status: 'expired', decisions: [] });
    }
    const isApproved = decision === 'approve';
    return Promise.resolve({
      approvalId,
      status: isApproved ? 'approved' : 'rejected',
      decisions: [
        {
          decision: isApproved ? 'approve' : 'reject',
          reason: null,
          decidedBy: 'dry run',
          decidedAt: new Date(this.#now).toISOString(),
        },
      ],
    });
  }

  emit({ seq, type, data }: EmittedEvent): Promise<void> {
    const path = this.rows.get(seq)?.path ?? '';
    this.calls.push({
      seq,
      path,
      call: 'emit',
      with: { type, data },
      isUndo: false,
      isFaked: true,
    });
    return Promise.resolve();
  }

  /** A result says which event comes; without one, and with an error, none does. */
  openListener({ seq, filters }: AskedListener, path: string): Promise<void> {
    const found = this.#resultOf(path, true);
    const isFaked = found !== undefined;
    this.calls.push({ seq, path, call: 'listen', with: { filters }, isUndo: false, isFaked });
    if (found?.error) {
      return Promise.reject(
        taskError(path, found.error.status, found.error.detail ?? 'A result that was given.'),
      );
    }
    const [type = ''] = filters.map((filter) => filter.type);
    const time = new Date(this.#now).toISOString();
    if (found) this.#events.set(seq, { type, time, data: found.output });
    return Promise.resolve();
  }

  lookAtListener({ seq }: { readonly seq: number }): Promise<HeardEvent | null> {
    return Promise.resolve(this.#events.get(seq) ?? null);
  }

  isHeard(seq: number): boolean {
    return this.#events.has(seq);
  }

  isHistoryLong(): boolean {
    return false;
  }

  async wait(isOver: () => boolean, until: number): Promise<boolean> {
    if (isOver()) return true;
    const scopes = this.#isCanceled.getStore() ?? [];
    if (scopes.some((scope) => scope.isCanceled)) throw new DryCanceled();
    const isCanceled = await new Promise<boolean>((resolve) => {
      const sleeper: Sleeper = {
        at: until,
        wake: (isCanceledNow) => {
          this.#sleepers.delete(sleeper);
          resolve(isCanceledNow);
        },
      };
      this.#sleepers.add(sleeper);
      for (const scope of scopes) scope.sleepers.add(sleeper);
      void this.#pump();
    });
    if (isCanceled) throw new DryCanceled();
    return isOver();
  }

  /** Once nothing else goes on, time jumps to whatever ends first. */
  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#sleepers.size > 0) {
      // Branches that yield in `keep` come before time does.
      do {
        this.#isActive = false;
        await Promise.all(this.#rests);
        await nextTurn();
        await nextTurn();
      } while (this.#isActive || this.#rests.size > 0);
      const next = [...this.#sleepers].sort((left, right) => left.at - right.at)[0];
      if (!next) break;
      this.#now = Math.max(this.#now, next.at);
      next.wake(false);
    }
    this.#isPumping = false;
  }

  sideBySide<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  openScope(): HostScope {
    const scope = new DryScope();
    return {
      run: (work) => this.#isCanceled.run([...(this.#isCanceled.getStore() ?? []), scope], work),
      cancel: () => scope.cancel(),
    };
  }

  show(): void {
    // Nobody looks on.
  }

  isCancellation(error: unknown): boolean {
    return error instanceof DryCanceled || error instanceof DryRunStopped;
  }

  faultOf(error: unknown): TaskError {
    if (error instanceof TaskError) return error;
    throw error;
  }
}

class DryScope {
  readonly sleepers = new Set<Sleeper>();
  isCanceled = false;

  cancel(): void {
    this.isCanceled = true;
    for (const sleeper of this.sleepers) sleeper.wake(true);
  }
}
