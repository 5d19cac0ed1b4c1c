import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { openApiDocument } from '../../src/api/pages/api-reference.js';
import { answersJson } from '../support/http/answer-story.js';
import { checkAnswer, checkFault, declaredOperations } from '../support/http/answers.js';
import { recordAnswers } from '../support/http/recorded-answers.js';
import { useInstance } from '../support/servers/use-instance.js';

const path = new URL('../../src/schemas/openapi/answers.json', import.meta.url);
const shown = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

/**
 * Names and kinds of what an answer holds: values move with time and order, these do not. What may be
 * null, or a list without items, may be so at another time.
 */
function expectSameShape(found: unknown, known: unknown, where: string): void {
  if (found === null || known === null) return;
  if (Array.isArray(found) && Array.isArray(known)) {
    if (found.length > 0 && known.length > 0) expectSameShape(found[0], known[0], `${where}[0]`);
    return;
  }
  expect(typeof found, where).to.equal(typeof known);
  if (typeof found !== 'object') return;
  const members = known as Record<string, unknown>;
  expect(Object.keys(found), where).to.have.members(Object.keys(members));
  for (const [name, of] of Object.entries(found)) {
    expectSameShape(of, members[name], `${where}.${name}`);
  }
}

describe('examples of answers', () => {
  const instance = useInstance({ isPublic: true });

  it('are there for each operation that answers with JSON, and for no other', () => {
    const ids = declaredOperations.filter(answersJson).map(({ id }) => id);
    expect(Object.keys(shown).sort(), 'npm run record-answers').to.deep.equal(ids.sort());
  });

  for (const operation of declaredOperations.filter(answersJson)) {
    const { id, method, path: address, success } = operation;
    // spec/beyond.md R3
    it(`${id} shows an answer that its schema allows`, () => {
      const text = JSON.stringify(shown[id]);
      checkAnswer(method, address, { status: success.status, type: 'application/json', text });
    });
  }

  it('are what the product answers: telling the story again gives them', async function () {
    this.timeout(120_000);
    const again = await recordAnswers(instance);
    for (const [id, answer] of Object.entries(again)) {
      expectSameShape(answer, shown[id], `npm run record-answers: ${id}`);
    }
  });

  it('of errors are what the schemas of errors allow, the same at each start', () => {
    type Response = { content: Record<string, { example?: { timestamp?: string } }> };
    const { components } = openApiDocument() as {
      components: { responses: Record<string, Response> };
    };
    for (const [name, { content }] of Object.entries(components.responses)) {
      const { example } = content['application/json'] ?? {};
      expect(example, name).to.be.an('object');
      checkFault(name, example);
    }
    expect(JSON.stringify(openApiDocument())).to.equal(JSON.stringify(openApiDocument()));
  });
});
