#!/usr/bin/env node
/**
 * The command line, and `npm start`. Compiles first what has changed: loading TypeScript through a
 * hook takes twice the processor time of a start (docs/decisions/0160).
 */
import { bundleConsoleBeside } from './bundle-console.js';
import { compile } from './compile.js';

try {
  await compile();
} catch (error) {
  process.stderr.write(`durabill: cannot compile src to dist: ${error.message}\n`);
  process.exit(1);
}
// Once the start has said that all is ready: it needs both processors until then (docs/decisions/0469).
if (process.argv.includes('start')) process.once('durabill.ready', bundleConsoleBeside);
process.setSourceMapsEnabled(true);
await import('../dist/program/main.js');
