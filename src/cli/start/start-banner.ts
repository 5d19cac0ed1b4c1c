export interface BannerInput {
  apiUrl: string | null;
  temporalUiUrl: string | null;
  metricsUrl: string | null;
  dataDir: string;
  /** Null where none may be printed: then the log of a production server holds no credential. */
  token: string | null;
  seconds: string;
}

/** What a person sees when all is ready. */
export function banner({
  apiUrl,
  temporalUiUrl,
  metricsUrl,
  dataDir,
  token,
  seconds,
}: BannerInput): string {
  const addresses = [
    ['API', apiUrl],
    ['Console', apiUrl === null ? null : `${apiUrl}/console`],
    ['API docs', apiUrl === null ? null : `${apiUrl}/docs`],
    ['OpenAPI', apiUrl === null ? null : `${apiUrl}/openapi.json`],
    ['MCP server', apiUrl === null ? null : `${apiUrl}/mcp`],
    ['Temporal UI', temporalUiUrl],
    ['Metrics', metricsUrl],
    ['Data', dataDir],
  ].flatMap(([name, value]) =>
    typeof value === 'string' ? [`  ${name?.padEnd(13)}${value}`] : [],
  );
  return [
    '',
    `Durabill is ready (${seconds} s)`,
    '',
    ...addresses,
    ...(apiUrl === null ? [] : accessLines(apiUrl, token)),
    '',
  ].join('\n');
}

function accessLines(apiUrl: string, token: string | null): string[] {
  if (token === null) {
    return ['', 'A token:  npm run --silent durabill -- token --tenant T --org O --roles ADMIN'];
  }
  return [
    '',
    "Token of the tenant 'default', for an hour:",
    '',
    token,
    '',
    'Try it:',
    '',
    `curl -sS '${apiUrl}/api/v1/external/currencies?size=3' \\`,
    `  -H 'Authorization: Bearer ${token}'`,
    '',
    'See a usage event become an explained charge:  npm run --silent durabill -- demo',
  ];
}
