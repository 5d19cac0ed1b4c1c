import { assert } from 'chai';
import { contentId, newId, seededId } from '../../src/kernel/id.js';

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
});
