import { expect } from 'chai';
import { declaredOperations } from '../support/http/answers.js';
import { sendRaw } from '../support/http/raw.js';
import { useInstance } from '../support/servers/use-instance.js';

const anyId = '01939c6e-7a00-7000-8000-00000000dead';

/** A query parameter of an operation that is no list. */
const aSingleOne = ({ query }: (typeof declaredOperations)[number]): string | undefined =>
  Object.entries((query?.properties ?? {}) as Record<string, { type?: string }>).find(
    ([, schema]) => schema.type !== 'array',
  )?.[0];

describe('query parameters that are unknown or given twice', () => {
  const instance = useInstance();
  let token: string;
  before(async () => {
    const tenant = await instance.tenant();
    token = tenant.token;
  });

  for (const operation of declaredOperations) {
    const { id, method, path, family, access, query } = operation;
    // RFC 6749, section 3.1: an authorization server ignores what it does not know.
    if (family === 'gateway' || access === 'public') continue;

    // spec/resources.md R15
    it(`${id} answers 400 that names the parameter and the known ones`, async () => {
      const answer = await sendRaw(instance.url, {
        method,
        path: `${path.replace(/\{\w+\}/g, anyId)}?acountId=1`,
        headers: { Authorization: `Bearer ${token}` },
      });
      expect(answer.status, answer.text).to.equal(400);
      expect(answer.text).to.include("'acountId' is not a known query parameter.");
      for (const known of Object.keys(query?.properties ?? {})) {
        expect(answer.text).to.include(known);
      }
    });

    const single = aSingleOne(operation);
    if (single === undefined) continue;

    // spec/resources.md R15
    it(`${id} answers 400 to a parameter that is given twice`, async () => {
      const answer = await sendRaw(instance.url, {
        method,
        path: `${path.replace(/\{\w+\}/g, anyId)}?${single}=1&${single}=2`,
        headers: { Authorization: `Bearer ${token}` },
      });
      expect(answer.status, answer.text).to.equal(400);
      expect(answer.text).to.include(`'${single}' must be given once; it is there 2 times`);
    });
  }
});
