/**
 * The table of STYLE.md section 2: each folder of src/ and what it may import of ours.
 * `types` may be imported as types only: they vanish at run time.
 */
const layers = {
  kernel: { may: [] },
  rating: { may: ['kernel'] },
  schemas: { may: ['kernel', 'rating'] },
  models: { may: ['kernel', 'rating'] },
  queries: { may: ['kernel', 'rating', 'schemas', 'models'] },
  commands: { may: ['kernel', 'rating', 'schemas', 'models', 'queries'] },
  platform: { may: ['kernel'] },
  activities: {
    may: ['kernel', 'rating', 'schemas', 'models', 'queries', 'commands', 'platform'],
  },
  workflows: { may: ['kernel'], types: ['schemas', 'activities'] },
  api: {
    may: ['kernel', 'schemas', 'queries', 'commands', 'platform'],
    types: ['workflows', 'models'],
  },
  worker: { may: ['kernel', 'platform', 'activities'], types: ['workflows'] },
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
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
};
