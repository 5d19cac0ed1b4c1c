import { expect } from 'chai';
import { newestOf } from '../../src/adapters/kafka/newest-messages.js';

/** Partitions whose records have messages of so many characters each, by partition and offset. */
const reading = (lengths: readonly (readonly number[])[]) => {
  let held = 0;
  const read = (partition: number, offset: number, end: number) => {
    const records = (lengths[partition] ?? []).slice(offset, end).map((length, index) => ({
      offset: offset + index,
      key: null,
      orgId: null,
      message: 'x'.repeat(length),
      receivedAt: new Date(1_000 * (offset + index) + partition),
    }));
    held = Math.max(held, records.length);
    return Promise.resolve({ records, nextOffset: end });
  };
  const stretches = lengths.map((all, partition) => ({ partition, from: 0, end: all.length }));
  return { read, stretches, mostRead: () => held };
};

const places = (found: Awaited<ReturnType<typeof newestOf>>) =>
  found.records.map(({ partition, offset }) => `${partition}/${offset}`);

/** The newest first: of two partitions in turns. */
const expected = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => {
    const at = from - Math.floor(index / 2);
    return `${1 - (index % 2)}/${at}`;
  });

describe('the newest records of a log', () => {
  it('are a whole page where they are short', async () => {
    const { read, stretches } = reading([Array(300).fill(10), Array(300).fill(10)]);
    const found = await newestOf(read, stretches, { limit: 400, offset: 0 });
    expect(places(found)).to.deep.equal(expected(299, 400));
    expect(found.isCut).to.equal(false);
  });

  it('end at 8 MiB where they are long, and go on from there', async () => {
    const long = Array(20).fill(1_000_000) as number[];
    const { read, stretches } = reading([long, long]);
    const first = await newestOf(read, stretches, { limit: 40, offset: 0 });
    expect(places(first)).to.deep.equal(expected(19, 8));
    expect(first.isCut).to.equal(true);
    const second = await newestOf(read, stretches, { limit: 40, offset: 8 });
    expect(places(second)).to.deep.equal(expected(15, 8));
  });

  it('miss nothing where long and short ones follow each other', async () => {
    const mixed = Array.from({ length: 500 }, (_, index) => (index % 50 < 3 ? 900_000 : 10));
    const { read, stretches } = reading([mixed, mixed]);
    const seen: string[] = [];
    for (let offset = 0; ;) {
      const found = await newestOf(read, stretches, { limit: 100, offset });
      seen.push(...places(found));
      offset += found.records.length;
      if (found.records.length === 0) break;
    }
    expect(seen).to.deep.equal(expected(499, 1_000));
  });

  it('find a text among others that are long', async () => {
    const { read, stretches } = reading([Array(1_200).fill(100_000)]);
    const found = await newestOf(read, stretches, { limit: 50, offset: 0, containing: 'xx' });
    expect(places(found)).to.deep.equal(
      Array.from({ length: 50 }, (_, index) => `0/${1_199 - index}`),
    );
  });
});
