/** `npm run build`: does ahead what a start would do otherwise, as the image does. */
import { compile } from './compile.js';

await compile();
await import('../dist/worker/bundle.js');
