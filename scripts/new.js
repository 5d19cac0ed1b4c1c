/** `npm run new`: writes the stubs of an endpoint, a flow or a price method (CONTRIBUTING.md). */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const usage = `Usage:
  npm run new -- endpoint SUBJECT/ENTITY NAME   e.g. endpoint billing/tax-rate summary
  npm run new -- flow ENTITY VERB               e.g. flow account pause (account, contract, service)
  npm run new -- price-method NAME              e.g. price-method per-seat

Names are in kebab-case. What is written passes types, lint and its test; CONTRIBUTING.md says what
comes then.
`;

class Refusal extends Error {}

/** Paths are those of the working copy in which npm runs. */
const read = (path) => {
  if (!existsSync(path)) throw new Refusal(`there is no ${path}`);
  return readFileSync(path, 'utf8');
};
const changes = new Map();
const create = (path, text) => {
  if (existsSync(path)) throw new Refusal(`${path} is there already`);
  changes.set(path, text);
};

const camel = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
const pascal = (name) => camel(`-${name}`);
const words = (name) => name.replaceAll('-', ' ');

function template(name, values) {
  const text = readFileSync(new URL(`templates/${name}.txt`, import.meta.url), 'utf8');
  return text.replace(/__(\w+?)__/g, (_, key) => values[key]);
}

/** Puts lines before the end of an object that a declaration opens. */
function insert(path, declaration, lines, closing = '\n};') {
  const text = changes.get(path) ?? read(path);
  const start = text.indexOf(declaration);
  const end = text.indexOf(closing, start);
  if (start < 0 || end < 0) throw new Refusal(`${path} has no '${declaration}'`);
  changes.set(path, `${text.slice(0, end + 1)}${lines}${text.slice(end + 1)}`);
}

/** Puts lines before a declaration and the comment above it. */
function insertBefore(path, declaration, lines) {
  const text = changes.get(path) ?? read(path);
  const start = text.indexOf(declaration);
  const comment = /\/\*\*(?:(?!\*\/)[^])*\*\/\n$/.exec(text.slice(0, start));
  const end = comment?.index ?? start;
  changes.set(path, `${text.slice(0, end)}${lines}\n${text.slice(end)}`);
}

/** Adds a name to an array of one declaration, on one line where it fits. */
function append(text, declaration, name) {
  const known = new RegExp(`${declaration} = \\[([^\\]]*)\\] as const;`).exec(text);
  if (known === null) throw new Refusal(`there is no '${declaration}'`);
  const names = known[1].split(',').map((one) => one.trim());
  const all = [...names.filter(Boolean), name];
  const line = `${declaration} = [${all.join(', ')}] as const;`;
  const wrapped = `${declaration} = [\n${all.map((one) => `  ${one},\n`).join('')}] as const;`;
  return text.replace(known[0], line.length <= 100 ? line : wrapped);
}

function endpoint(place, name) {
  const [subject = '', entity = ''] = place.split('/');
  const schema = `src/schemas/${subject}/${entity}.ts`;
  const text = read(schema);
  const tag = /tag: '([^']+)'/.exec(text)?.[1];
  const family = /family: '([^']+)'/.exec(text)?.[1];
  if (tag === undefined || family === undefined) throw new Refusal(`${schema} has no operation`);
  const key = camel(name);
  if (new RegExp(`^  ${key}: operation`, 'm').test(text)) {
    throw new Refusal(`${schema} has an operation '${key}'`);
  }
  const values = { key, tag, family, entity, name, subject, words: words(entity) };
  // Beside the resource itself, whose path is in the plural.
  const resource = /path: '(\/v1\/[a-z-]+)'/.exec(text)?.[1] ?? `/v1/${entity}s`;
  const answer = `${pascal(entity)}${pascal(name)}`;
  Object.assign(values, {
    answer,
    id: `${key}Of${pascal(entity)}`,
    path: `${resource}/${name}`,
  });
  const operations = `export const ${camel(entity)}Operations = {`;
  insert(schema, operations, template('operation', values));
  insertBefore(schema, operations, template('answer', values));
  const handler = template('handler', values);
  insert(
    `src/api/handlers/${subject}/${entity}.ts`,
    `export const ${camel(entity)}Handlers`,
    handler,
  );
  create(`test/api/${subject}/${entity}-${name}.test.ts`, template('endpoint-test', values));
}

/** The subjects of what flows are of, and what their stubs do. */
const subjects = { account: 'accounts', contract: 'contracts', service: 'catalog' };
const unchanged = (Entity) =>
  `saveByFlow(scope, save, (inner) => update${Entity}(inner, String(resolved['id']), {}))`;

function flow(entity, verb) {
  const subject = subjects[entity];
  if (subject === undefined) {
    throw new Refusal(`no stub for '${entity}': use account, contract or service`);
  }
  if (verb.includes('-')) throw new Refusal(`a flow is named by one verb, not by '${verb}'`);
  const values = {
    entity,
    verb,
    Verb: pascal(verb),
    Entity: pascal(entity),
    file: `${verb}-${entity}`,
  };
  const key = `${camel(verb)}${values.Entity}`;
  const schema = `src/schemas/flows/${entity}.ts`;
  if (read(schema).includes(`  ${key}: flow(`)) throw new Refusal(`${schema} has a flow '${key}'`);
  values.key = key;
  insert(schema, `export const ${entity}Flows = {`, template('flow', values));
  values.work =
    entity === 'account' ? 'editAccount(scope, save, resolved)' : unchanged(values.Entity);
  const activities = `src/activities/${subject}/${entity}.ts`;
  const step = template('flow-step', values);
  insert(activities, `export function ${entity}Activities`, step, '\n  };');
  const workflow = `src/workflows/${entity}.ts`;
  changes.set(workflow, `${read(workflow)}\n${template('workflow', values)}`);
  create(`test/workflow/${values.file}.test.ts`, template('flow-test', values));
}

function priceMethod(name) {
  const values = { name, key: camel(name), NAME: name.replaceAll('-', '_').toUpperCase() };
  create(`src/rating/price-methods/${name}.ts`, template('price-method', values));
  create(`test/unit/rating/${name}.test.ts`, template('price-method-test', values));
  const index = 'src/rating/price-methods/index.ts';
  const text = read(index).replace(
    'import { quantity }',
    `import { ${values.key} } from './${name}.js';\nimport { quantity }`,
  );
  changes.set(index, append(text, 'export const priceMethods', values.key));
}

const kinds = { endpoint: [endpoint, 2], flow: [flow, 2], 'price-method': [priceMethod, 1] };

function run([kind, ...names]) {
  if (kind === undefined || kind === '--help' || names.includes('--help')) return usage;
  const [write, count] = kinds[kind] ?? [];
  if (write === undefined || names.length !== count) throw new Refusal(`see:\n\n${usage}`);
  const wrong = names.find((name) => !/^[a-z][a-z0-9]*(?:[-/][a-z0-9]+)*$/.test(name));
  if (wrong !== undefined) throw new Refusal(`'${wrong}' is not in kebab-case`);
  write(...names);
  for (const [path, text] of changes) writeFileSync(path, text);
  return `${[...changes.keys()].join('\n')}\n`;
}

try {
  process.stdout.write(run(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  process.stderr.write(`new: ${error.message}\n`);
  process.exitCode = 1;
}
