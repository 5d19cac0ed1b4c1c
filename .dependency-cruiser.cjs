/**
 * The table of ARCHITECTURE.md: each folder of src/ and what it may import of ours.
 * `types` may be imported as types only: they vanish at run time.
 */
const layers = {
  kernel: { may: [] },
  messages: { may: ['kernel'] },
  rating: { may: ['kernel'] },
  interpreter: { may: ['kernel', 'messages'] },
  schemas: { may: ['kernel', 'messages', 'rating'] },
  models: { may: ['kernel', 'messages', 'rating'], types: ['schemas'] },
  queries: { may: ['kernel', 'messages', 'rating', 'schemas', 'models'] },
  commands: { may: ['kernel', 'messages', 'rating', 'schemas', 'models', 'queries'] },
  platform: { may: ['kernel', 'messages'] },
  adapters: { may: ['kernel', 'messages', 'platform'] },
  access: { may: ['kernel', 'messages', 'models', 'platform'] },
  process: { may: ['kernel', 'messages', 'platform', 'adapters', 'access'] },
  activities: {
    may: [
      'kernel',
      'messages',
      'rating',
      'schemas',
      'models',
      'queries',
      'commands',
      'platform',
      'adapters',
      'access',
      'process',
    ],
  },
  workflows: { may: ['kernel', 'messages', 'interpreter'], types: ['schemas', 'activities'] },
  flows: {
    may: [
      'kernel',
      'messages',
      'interpreter',
      'schemas',
      'queries',
      'commands',
      'platform',
      'access',
    ],
    types: ['workflows', 'process', 'models'],
  },
  api: {
    may: ['kernel', 'messages', 'schemas', 'queries', 'commands', 'flows', 'access', 'platform'],
    types: ['workflows', 'models', 'process'],
  },
  worker: {
    may: ['kernel', 'messages', 'platform', 'adapters', 'activities'],
    types: ['workflows', 'process'],
  },
  embedded: { may: ['kernel', 'platform'] },
  // Knows the API by its document alone: see scripts/console-types.js.
  console: { may: [] },
};

const rules = Object.entries(layers).flatMap(([layer, { may, types = [] }]) => [
  {
    name: `${layer}-imports`,
    severity: 'error',
    from: { path: `^src/${layer}/` },
    to: {
      path: '^src/',
      pathNot: [layer, ...may, ...types].map((name) => `^src/${name}/`),
    },
  },
  ...(types.length === 0
    ? []
    : [
        {
          name: `${layer}-imports-types-only`,
          severity: 'error',
          from: { path: `^src/${layer}/` },
          to: {
            path: types.map((name) => `^src/${name}/`),
            dependencyTypesNot: ['type-only'],
          },
        },
      ]),
]);

module.exports = {
  forbidden: [
    ...rules,
    {
      // The production image is without it: loaded where it is needed, by cli.
      name: 'embedded-is-loaded-late',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/embedded/' },
      to: { path: '^src/embedded/', dependencyTypesNot: ['dynamic-import', 'type-only'] },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js'] },
  },
};
