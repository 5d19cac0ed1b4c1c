/** `npm run build`: bundles the workflows ahead, as the image does, so that no start has to. */
import { openLog } from '../platform/log.js';
import { loadWorkflowBundle } from './workflow-bundle.js';

const bundle = await loadWorkflowBundle(openLog('info'));
const bytes = 'code' in bundle ? bundle.code.length : 0;
process.stdout.write(`The bundle of the workflows is ready: ${bytes} bytes.\n`);
