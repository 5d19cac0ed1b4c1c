import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('docs/security.md', root), 'utf8');
/** The rows of the first table, without its head. */
const threats = text
  .slice(text.indexOf('## Threats'), text.indexOf('## Secrets'))
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Threat |'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the threat model', () => {
  it('has each boundary of trust', () => {
    const boundaries = [...text.matchAll(/^### (.+)$/gm)].map(([, title]) => title);
    expect(boundaries).to.deep.equal([
      'The operator',
      "A tenant's administrator",
      'A role-less token, a reader, and nobody at all',
      'An OAuth client',
      'Another user of the machine',
      'Temporal',
      'Kafka',
      'PostgreSQL',
    ]);
  });

  it('names a test that exists for each threat', () => {
    expect(threats).to.have.length.greaterThan(15);
    for (const [, threat = '', , shown = ''] of threats) {
      const files = shown.match(/test\/[\w/-]+\.test\.ts/g) ?? [];
      expect(files, threat).not.to.deep.equal([]);
      for (const file of files) expect(existsSync(new URL(file, root)), file).to.equal(true);
    }
  });
});
