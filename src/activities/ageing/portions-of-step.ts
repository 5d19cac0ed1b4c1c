import type { ArchivedPortion, ArchivePlace } from '../../messages/ageing/usage-archive.js';

/** A step ends after this time; the next one goes on where it stopped. */
const stepMs = 20_000;

/** Does portion by portion from a place on, for some seconds. */
export async function portionsOfStep(
  place: ArchivePlace,
  work: (from: ArchivePlace) => Promise<ArchivedPortion>,
): Promise<ArchivedPortion> {
  const since = performance.now();
  let rows = 0;
  let next: ArchivePlace | null = place;
  while (next !== null && performance.now() - since < stepMs) {
    const portion: ArchivedPortion = await work(next);
    rows += portion.rows;
    next = portion.next;
  }
  return { rows, next };
}
