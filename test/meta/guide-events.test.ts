import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { webhookEvents } from '../../src/messages/webhook.js';

describe('the guide', () => {
  it('names each kind of event that starts a workflow', () => {
    const chapter = readFileSync('docs/guide/workflows.md', 'utf8');
    const missing = webhookEvents.filter((kind) => !chapter.includes(`\`${kind}\``));
    expect(missing).to.deep.equal([]);
  });
});
