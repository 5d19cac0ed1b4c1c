/** `npm run build`: does ahead what a start would do otherwise, as the image does. */
import { bundleConsole } from './bundle-console.js';
import { compile } from './compile.js';

await compile();
await bundleConsole();
await import('../dist/worker/bundle.js');
