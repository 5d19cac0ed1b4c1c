import { expect } from 'chai';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('events for webhooks', () => {
  const now = new Date('2031-02-03T04:05:06.789Z');
  const instance = useInstance({ now: () => now, tokenSeconds: 80 * 86_400 });
  const tenant = useTenant(instance);

  it('bear the time of the clock that their change has', async () => {
    const events = ['mdata.created'];
    await tenant
      .post('/v1/webhooks', { url: 'https://example.com', events, secret: 'any text' })
      .expect(201);
    const type = await tenant.post('/v1/mobjects', { name: 'thing' }).expect(201);
    const data = { price: 1 };
    await tenant.post(`/v1/mobjects/${String(type.body.id)}/mdata`, { data }).expect(201);
    const { rows } = await tenant.scope.db.read.raw<{ rows: { at: Date; sent: string }[] }>(
      `select created_at as at, body::json ->> 'timestamp' as sent from webhook_event`,
    );
    expect(rows).to.deep.equal([{ at: now, sent: '2031-02-03T04:05:06.789Z' }]);
  });
});
