import { expect } from 'chai';
import type { Browser } from 'puppeteer-core';
import { openBrowser } from '../support/servers/browser.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';

describe('a flow in the Temporal UI', function () {
  // The browser is unpacked when it is first used.
  this.timeout(120_000);
  let instance: TestInstance;
  let tenant: TestTenant;
  let browser: Browser;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    tenant = await instance.tenant();
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await instance.close();
  });

  it('shows its tenant, its entity, what it is in one line, its input and its output', async () => {
    await tenant.post(`${external}/accounts`, { name: 'Acme', externalId: 'acme' }).expect(201);
    const { body } = await tenant
      .post('/v1/workflows/payment-save/execute', {
        data: {
          account_id: 'acme',
          amount: 12.34,
          currency_id: 'USD',
          payment_method: 'Cash',
          payment_date: '2026-04-30',
          payment_reference: 'UI-4711',
        },
      })
      .expect(200);
    const page = await browser.newPage();
    await page.setViewport({ width: 1500, height: 1400 });
    await page.goto(String(body.temporalUrl), { waitUntil: 'networkidle0' });
    await page.waitForFunction(`document.body.innerText.includes('payment_reference')`);
    const text = String(await page.evaluate('document.body.innerText'));
    for (const shown of [
      `${tenant.id}/payment/UI-4711`,
      'savePayment',
      'Payment Save Flow: UI-4711',
      '"payment_reference"',
      '"Pay In"',
      'Completed',
    ]) {
      expect(text, shown).to.include(shown);
    }
    const attributes = new URL(String(body.temporalUrl).replace(/\/history$/, '/metadata'));
    await page.goto(attributes.href, { waitUntil: 'networkidle0' });
    await page.waitForFunction(`document.body.innerText.includes('EntityType')`);
    const metadata = String(await page.evaluate('document.body.innerText'));
    for (const shown of ['TenantId', tenant.id, 'EntityId', 'UI-4711', 'Actor', 'tester']) {
      expect(metadata, shown).to.include(shown);
    }
  });
});
