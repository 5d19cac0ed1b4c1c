/** `npm run draw-examples`: draws the examples of workflows again, for the guide. */
import { writeFile } from 'node:fs/promises';
import { drawWorkflow } from '../src/api/presenters/diagram/workflow-diagram.js';
import type { Definition } from '../src/messages/definitions/definition.js';
import { exampleNames, picturePath, readExample } from './support/billing/workflow-examples.js';

for (const name of await exampleNames()) {
  await writeFile(picturePath(name), drawWorkflow((await readExample(name)) as Definition));
}
