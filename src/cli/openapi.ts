import type { Command } from 'commander';

async function printDocument(): Promise<void> {
  const { withInstance } = await import('./start/instance.js');
  const { loadReferenceData } = await import('../queries/reference/reference-data.js');
  const { openApiDocument } = await import('../api/pages/api-reference.js');
  // The picklists that the document lists are rows of the instance's database.
  await withInstance(({ database }) => loadReferenceData(database.platform));
  process.stdout.write(`${JSON.stringify(openApiDocument(), null, 2)}\n`);
}

/** `durabill openapi`: prints what the running instance serves at `/openapi.json`. */
export function registerOpenApi(program: Command): void {
  program
    .command('openapi')
    .description('Print the OpenAPI 3.1 document of the API.')
    .action(printDocument);
}
