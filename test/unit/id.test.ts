import { createHash } from 'node:crypto';
import { assert } from 'chai';
import { contentId, digestOfPieces, newId, seededId } from '../../src/kernel/id.js';
import { Decimal } from '../../src/kernel/numbers/money.js';
import { canonicalJson } from '../../src/kernel/text/json.js';
import { canonicalDigest, canonicalPieces } from '../../src/kernel/text/json-write-portions.js';

describe('ids', () => {
  it('are UUIDs of version 7 that rise, however many are made in a millisecond', () => {
    const ids = Array.from({ length: 20_000 }, newId);
    assert.deepEqual(ids, [...ids].sort());
    assert.equal(new Set(ids).size, ids.length);
    for (const id of ids)
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
  });

  it('of a content are the same for ever', () => {
    // sha256('acme') is 822b33ad 87c1 48a0 a20a 5ba7cd5ebcaa...: the third part becomes 8..., the fourth begins with 8 to b.
    assert.equal(contentId('acme'), '822b33ad-87c1-88a0-a20a-5ba7cd5ebcaa');
    // md5 of seed and content is ee9 7c8 04f16c451912..., as seeded_uuid() of the database has it.
    assert.equal(
      seededId('018f0000-aaaa-7000-8000-000000000000', 'x'),
      '018f0000-aaaa-8ee9-87c8-04f16c451912',
    );
  });

  it('of a long content that comes in pieces are those of the whole, with places to pause between', async () => {
    const rows = Array.from({ length: 2_000 }, (_, index) => ({
      b: `é😀"${index}`,
      a: [index, null],
    }));
    const rest = { none: [], empty: {}, exact: new Decimal('1.50'), deep: { z: 1, y: [{}] } };
    const document = { rows, ...rest };
    // By hand, of its members without the rows.
    assert.equal(canonicalJson(rest), '{"deep":{"y":[{}],"z":1},"empty":{},"exact":1.5,"none":[]}');
    const pieces = [...canonicalPieces(document)];
    assert.equal(pieces.join(''), canonicalJson(document));
    assert.isAtLeast(pieces.length, rows.length / 2);
    // One item of a list may be as long as the whole.
    const deep = [[[rows]]];
    assert.equal([...canonicalPieces(deep)].join(''), canonicalJson(deep));
    assert.isAtLeast([...canonicalPieces(deep)].length, rows.length / 2);
    const naming = digestOfPieces(pieces);
    let pauses = 0;
    while (naming.next().done !== true) pauses += 1;
    assert.isAtLeast(pauses, 3);
    const whole = createHash('sha256').update(canonicalJson(document)).digest('hex');
    assert.equal(await canonicalDigest(document), whole);
  });
});
