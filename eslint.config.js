import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const plainSyntax = [
  { selector: 'TSEnumDeclaration', message: 'Use a union of literals.' },
  {
    selector:
      ':matches(SpreadElement, SpreadProperty) > :matches(ObjectExpression, ArrayExpression)',
    message: 'Write the properties or elements themselves: a spread of a literal says nothing.',
  },
];

const accessTables =
  'tenant|access_key(_use)?|mcp_client|oauth_(client|code|decision|flow|grant|refresh_token)|signing_key|token_revocation';
const accessSql = `/\\b(from|join|into|update|table)\\s+(public\\.)?(${accessTables})\\b/i`;
const accessOnly = 'Only access, and its models, touch the tables of access.';
const foreignTables = [
  { selector: `TemplateElement[value.raw=${accessSql}]`, message: accessOnly },
  { selector: `Literal[value=${accessSql}]`, message: accessOnly },
  // Of knex: `db('tenant')`.
  {
    selector: `CallExpression[callee.type='Identifier'] > Literal.arguments:first-child[value=/^(${accessTables})$/]`,
    message: accessOnly,
  },
  {
    selector: `PropertyDefinition[key.name='tableName'] > Literal[value=/^(${accessTables})$/]`,
    message: accessOnly,
  },
];

const writingSql =
  '/\\b(insert into|delete from|update \\w+( as \\w+)? set|merge into|truncate|lock table|pg_advisory\\w*|for (no key )?update|for (key )?share)\\b/i';
const writingCalls =
  '/^(for(NoKey)?Update|for(Key)?Share|transaction|insert\\w*|upsert\\w*|patch\\w*|update|del|delete(ById)?)$/';
const readOnly = 'Queries write and lock nothing: it belongs into commands or models.';

export default tseslint.config(
  {
    ignores: ['node_modules', 'dist', '.durabill', '.cache', 'coverage', 'src/rating/formula/*.js'],
  },
  js.configs.recommended,
  // Rules that need types are oxlint's, which reads those in a tenth of the time (.oxlintrc.json).
  ...tseslint.configs.recommended,
  {
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-restricted-syntax': ['error', ...plainSyntax],
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 70, skipComments: true, skipBlankLines: true }],
      'prefer-const': 'error',
      eqeqeq: ['error', 'always'],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/access/**', 'src/models/access/**'],
    rules: { 'no-restricted-syntax': ['error', ...plainSyntax, ...foreignTables] },
  },
  {
    files: ['src/queries/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...plainSyntax,
        ...foreignTables,
        { selector: `TemplateElement[value.raw=${writingSql}]`, message: readOnly },
        { selector: `Literal[value=${writingSql}]`, message: readOnly },
        {
          // Sets and maps delete something that they are given; a query builder deletes.
          selector: `CallExpression[callee.property.name=${writingCalls}]:not([callee.property.name='delete'][arguments.length>0])`,
          message: readOnly,
        },
      ],
    },
  },
  {
    // A model has the columns that its schema declares, beside those that it declares itself.
    files: ['src/models/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-declaration-merging': 'off',
      '@typescript-eslint/no-empty-object-type': [
        'error',
        { allowInterfaces: 'with-single-extends' },
      ],
    },
  },
  {
    // Mocha requires tests, which a module that awaits cannot be: it would be imported instead, with a second
    // copy of all that the other tests of the process share.
    files: ['test/**/*.test.ts', 'test/support/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...plainSyntax,
        {
          selector: ':matches(AwaitExpression, ForOfStatement[await=true]):not(:function *)',
          message: 'No await outside a function: mocha could not require the module.',
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      // A describe() block is a list of tests, not a function that does one thing; chai asserts by property.
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
    },
  },
  {
    // A migration is one statement list in SQL, which no function makes clearer.
    files: ['migrations/*.js'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    files: ['**/*.js', '**/*.cjs'],
    languageOptions: {
      globals: {
        console: 'readonly',
        module: 'writable',
        process: 'readonly',
        require: 'readonly',
        setImmediate: 'readonly',
        URL: 'readonly',
      },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
