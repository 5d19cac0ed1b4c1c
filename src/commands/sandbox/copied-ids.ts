import { createHash, randomUUID } from 'node:crypto';

/**
 * The ids of a tenant's records in a copy: each keeps the time of the one that it was copied from, by
 * which ids are ordered, and is of this copy alone: what processes remember of an earlier one of the
 * same name must not be taken for it. What is no id of a record stays as it is.
 */
export class CopiedIds {
  readonly #copy = randomUUID();
  readonly #known = new Map<string, string>();

  add(ids: readonly string[]): void {
    for (const id of ids) this.#known.set(id, this.#copied(id));
  }

  /** The id in the copy. */
  of(id: string): string {
    return this.#known.get(id) ?? id;
  }

  ofNullable(id: string | null): string | null {
    return id === null ? null : this.of(id);
  }

  /** JSON whose ids of records are those of the copy, wherever they stand: shares are named by accounts. */
  inJson(value: unknown): unknown {
    if (typeof value === 'string') return this.of(value);
    if (Array.isArray(value)) return value.map((each) => this.inJson(each));
    if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [this.of(name), this.inJson(each)]),
    );
  }

  #copied(id: string): string {
    const hash = createHash('sha256').update(`${this.#copy}/${id}`).digest('hex');
    return `${id.slice(0, 15)}${hash.slice(0, 3)}${id.slice(18, 20)}${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
  }
}
