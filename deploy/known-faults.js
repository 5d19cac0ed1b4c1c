/**
 * `node deploy/known-faults.js [url]`: asks OSV (osv.dev) for known faults of what sbom.json lists, for
 * when the registry does not answer audits. Ends with 1 for a fault of severity high, and with 3 when OSV
 * does not answer either: then nothing was checked, which must not look like a clean result.
 */
import { readFileSync } from 'node:fs';

/* global fetch, AbortSignal */
const url = process.argv[2] ?? 'https://api.osv.dev';
const sbom = JSON.parse(readFileSync(new URL('../sbom.json', import.meta.url), 'utf8'));
const purls = sbom.components.flatMap(({ purl }) => purl ?? []);

async function ask(path, body) {
  const response = await fetch(`${url}${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

/** The ids of the faults that are known of each component. */
async function faultsOf(batch) {
  const queries = batch.map((purl) => ({ package: { purl } }));
  const { results } = await ask('/v1/querybatch', { queries });
  if (results?.length !== batch.length) throw new Error('an answer for another number of queries');
  return results.flatMap(({ vulns = [] }, index) =>
    vulns.map(({ id }) => ({ id, purl: batch[index] })),
  );
}

try {
  const found = [];
  for (let at = 0; at < purls.length; at += 500) {
    found.push(...(await faultsOf(purls.slice(at, at + 500))));
  }
  let isHigh = false;
  for (const { id, purl } of found) {
    const { database_specific: specific, summary } = await ask(
      `/v1/vulns/${encodeURIComponent(id)}`,
    );
    // Without a word on its severity a fault counts as a high one.
    const severity = String(specific?.severity ?? 'HIGH');
    isHigh ||= ['HIGH', 'CRITICAL'].includes(severity);
    process.stdout.write(`${severity}\t${id}\t${purl}\t${summary ?? ''}\n`);
  }
  process.stdout.write(`OSV: ${purls.length} components checked, ${found.length} known faults\n`);
  process.exitCode = isHigh ? 1 : 0;
} catch (error) {
  process.stderr.write(`OSV does not answer (${error.cause?.code ?? error.message})\n`);
  process.exitCode = 3;
}
