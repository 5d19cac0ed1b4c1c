import { expect } from 'chai';
import { declaredOperations } from '../support/http/answers.js';
import { sendRaw } from '../support/http/raw.js';
import { useInstance } from '../support/servers/use-instance.js';

const anyId = '01939c6e-7a00-7000-8000-00000000dead';

describe('unknown query parameters', () => {
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
  }
});
