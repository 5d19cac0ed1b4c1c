import { expect } from 'chai';
import { flowList } from '../../src/schemas/flows/index.js';
import { prepareRecords, rowsOf, starts } from '../support/billing/flow-starts.js';
import { external } from '../support/servers/instance.js';
import { useInstance } from '../support/servers/use-instance.js';

describe('an Idempotency-Key gives one effect', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });

  for (const [workflow, flow] of flowList) {
    // spec/flows.md R33
    it(`to ${flow.slug}`, async () => {
      const [once, often] = [await instance.tenant(), await instance.tenant()];
      const path = `${external}/run/${flow.slug}`;
      await once.post(path, starts[workflow](await prepareRecords(once))).expect(200);
      const start = starts[workflow](await prepareRecords(often));
      const send = () => often.post(path, start).set('Idempotency-Key', 'once');
      const twins = await Promise.all([send(), send()]);
      const answers = [...twins, await send()];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      for (const { text } of answers) expect(text).to.equal(answers[0]?.text);
      const { databaseUrl } = instance;
      expect(await rowsOf(often.id, databaseUrl)).to.deep.equal(await rowsOf(once.id, databaseUrl));
    });
  }
});
