/**
 * `npm run build`: bundles the workflows ahead of time, as the image does, so that starts need not.
 */
import { openLog } from '../platform/log.js';
import { loadWorkflowBundle } from './workflow-bundle.js';

const bundle = await loadWorkflowBundle(openLog('info'));
const bytes = 'code' in bundle ? bundle.code.length : 0;
process.stdout.write(`The bundle of the workflows is ready: ${bytes} bytes.\n`);
