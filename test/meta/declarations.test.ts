import { expect } from 'chai';
import { openApiDocument } from '../../src/api/pages/api-reference.js';
import { modules } from '../../src/schemas/index.js';
import { SchemaTranslator } from '../../src/schemas/openapi/openapi-schema.js';
import { validate } from '../../src/schemas/fields/validator.js';
import { declaredOperations } from '../support/http/answers.js';
import { useInstance } from '../support/servers/use-instance.js';

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** The fields of a schema, at any depth, that have no description. */
function undescribed(schema: unknown, path: string): string[] {
  if (!isNode(schema)) return [];
  const properties = isNode(schema['properties']) ? Object.entries(schema['properties']) : [];
  const own = properties.flatMap(([name, property]) => [
    ...(isNode(property) && typeof property['description'] === 'string' && property['description']
      ? []
      : [`${path}.${name}`]),
    ...undescribed(property, `${path}.${name}`),
  ]);
  const variants = ['oneOf', 'anyOf', 'allOf'].flatMap((keyword) =>
    Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : [],
  );
  return [
    ...own,
    ...undescribed(schema['items'], `${path}[]`),
    ...undescribed(schema['additionalProperties'], `${path}.*`),
    ...variants.flatMap((variant, index) => undescribed(variant, `${path}|${index}`)),
  ];
}

/** Schemas inside a schema, with the way to them. */
function inside(schema: Node, path: string): (readonly [unknown, string])[] {
  const properties = isNode(schema['properties']) ? Object.entries(schema['properties']) : [];
  const variants = ['oneOf', 'anyOf', 'allOf'].flatMap((keyword) =>
    Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : [],
  );
  return [
    ...properties.map(([name, property]) => [property, `${path}.${name}`] as const),
    ...variants.map((variant) => [variant, path] as const),
    [schema['items'], `${path}[]`],
  ];
}

/** What stands before what, where a schema has both: people read from above (docs/decisions/0276). */
const befores: readonly (readonly [string, string])[] = [
  ...['name', 'number', 'title', 'label', 'amount', 'currency'].map(
    (name) => [name, 'description'] as const,
  ),
  ['amount', 'taxAmount'],
  ['amount', 'invoiceDate'],
  ['amount', 'paymentDate'],
  ['label', 'priceMethod'],
  ['priceMethod', 'taxCode'],
  ['name', 'profile'],
];

/** The fields of a schema, at any depth, that stand in the wrong place. */
function misplaced(schema: unknown, path: string): string[] {
  if (!isNode(schema)) return [];
  const names = isNode(schema['properties']) ? Object.keys(schema['properties']) : [];
  const isAnswer = path.startsWith('answer');
  // What has no name is called by its description.
  const hasName = ['name', 'label', 'title'].some((name) => names.includes(name));
  const faults = [
    ...(isAnswer && names.indexOf('id') > 0 ? [`${path}: id first`] : []),
    ...['createdAt', 'updatedAt'].flatMap((name) =>
      names.includes(name) && names.slice(names.indexOf(name)).some((one) => !one.endsWith('At'))
        ? [`${path}: ${name} after all that is no time`]
        : [],
    ),
    ...befores.flatMap(([first, second]) => {
      if (!names.includes(first) || !names.includes(second)) return [];
      if (second === 'description' && !hasName) return [];
      return names.indexOf(first) > names.indexOf(second)
        ? [`${path}: ${first} before ${second}`]
        : [];
    }),
  ];
  return [...faults, ...inside(schema, path).flatMap(([one, at]) => misplaced(one, at))];
}

describe('declarations', () => {
  // Picklists and currencies are rows of the database.
  useInstance();

  it('have ids of their own and places of their own', () => {
    const ids = declaredOperations.map(({ id }) => id);
    expect(new Set(ids).size, 'ids').to.equal(ids.length);
    const places = declaredOperations.map(
      ({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`,
    );
    expect(new Set(places).size, 'methods and paths').to.equal(places.length);
    expect(ids).to.not.be.empty;
  });

  for (const operation of declaredOperations) {
    const { id, path, tag, summary, body, query, success } = operation;

    // spec/beyond.md R3
    it(`${id} says what it does and what each field means`, () => {
      expect(tag, 'tag').to.match(/\S/);
      expect(summary, 'summary').to.match(/^[A-Z].{4,118}[^.]$/s);
      // Beyond the summary, which is a title.
      const { description, details } = operation;
      expect([description, details].join(' '), 'description or details').to.match(
        /[A-Z0-9].{10,}\.\s*$/i,
      );
      expect(path, 'path').to.match(/^(?:\/[A-Za-z0-9-]+|\/\{\w+\})+$/);
      const missing = [
        ...undescribed(query, 'query'),
        ...undescribed(body, 'body'),
        ...('schema' in success ? undescribed(success.schema, 'answer') : []),
      ];
      expect(missing, 'fields without a description').to.deep.equal([]);
    });

    it(`${id} has its fields in the order of their importance`, () => {
      const faults = [
        ...misplaced(body, 'body'),
        ...('schema' in success ? misplaced(success.schema, 'answer') : []),
      ];
      expect(faults).to.deep.equal([]);
    });

    if (!body) continue;
    // spec/beyond.md R3
    it(`${id} shows a body that it accepts`, () => {
      expect(operation.example, 'example').to.be.an.instanceOf(Object).that.is.not.empty;
      validate(body, structuredClone(operation.example));
    });
  }

  // docs/decisions/0311
  it('take null in a change only where clearing leaves nothing, a number, a flag or a list', () => {
    const harmless = [
      // The commands refuse null for these, and say why.
      'updateContract.number',
      'updateContract.masterAccountId',
      // They repeat what the path names.
      'updateAddress.accountId',
      'updateContractService.contractId',
      'updateContractServiceById.contractId',
      // A new version, which holds from now on where no date is given.
      'replaceRateCard.fromDate',
      'replaceExceptionCard.fromDate',
    ];
    const takes = ({ nullable, orNull }: Node) => nullable === true || orNull === true;
    const faults = declaredOperations.flatMap(({ id, method, body, success }) => {
      const answer = 'schema' in success ? (success.schema as Node)['properties'] : undefined;
      if (method !== 'PUT' || !isNode(body) || !isNode(answer)) return [];
      return Object.entries(body['properties'] as Record<string, Node>)
        .filter(([name, field]) => {
          const shown = answer[name];
          return isNode(shown) && takes(field) && !takes(shown) && shown['type'] === 'string';
        })
        .map(([name]) => `${id}.${name}`);
    });
    expect(faults.filter((fault) => !harmless.includes(fault))).to.deep.equal([]);
  });

  // spec/resources.md R17
  it('take in a change what was read, with what only answers have', () => {
    const reads = new Map(
      declaredOperations
        .filter(({ method }) => method === 'GET')
        .map(({ path, success }) => [path, 'schema' in success ? success.schema : undefined]),
    );
    let compared = 0;
    const faults = declaredOperations.flatMap(({ id, method, path, body, success }) => {
      const read = reads.get(path) as Node | undefined;
      const isSame = 'schema' in success && read === success.schema;
      if (method !== 'PUT' || !isSame || !isNode(body) || !isNode(body['properties'])) return [];
      compared += 1;
      const known = [...Object.keys(body['properties']), ...((body['ignored'] ?? []) as string[])];
      return Object.keys((read?.['properties'] ?? {}) as Node)
        .filter((name) => !known.includes(name))
        .map((name) => `${id}.${name}`);
    });
    expect(compared).to.be.greaterThan(5);
    expect(faults).to.deep.equal([]);
  });

  it('export every object that a body or an answer is', () => {
    const translator = new SchemaTranslator(modules, () => []);
    const isUnnamed = (schema: unknown): boolean =>
      isNode(schema) &&
      (isNode(schema['properties']) || Array.isArray(schema['oneOf'])) &&
      translator.nameOf(schema) === undefined;
    const unnamed = declaredOperations.flatMap(({ id, body, success }) => [
      ...(isUnnamed(body) ? [`${id}: body`] : []),
      ...('schema' in success && isUnnamed(success.schema) ? [`${id}: answer`] : []),
    ]);
    expect(unnamed, 'export these and list their module in schemas/index.ts').to.deep.equal([]);
  });

  it('stand under headings that have an introduction', () => {
    const { tags } = openApiDocument() as { tags: { name: string; description?: string }[] };
    const silent = tags.filter(({ description = '' }) => !/^[A-Z].{20,}\.$/s.test(description));
    expect(silent, 'schemas/openapi/tags.ts').to.deep.equal([]);
  });

  it('make a document whose references all lead somewhere', () => {
    const document = openApiDocument();
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/#\/components\/(\w+)\/(\w+)/g)];
    const components = (document as { components: Record<string, Record<string, unknown>> })
      .components;
    for (const [reference, kind = '', name = ''] of references) {
      expect(components[kind], reference).to.have.property(name);
      expect(components[kind]?.[name], reference).to.not.be.empty;
    }
    expect(references).to.not.be.empty;
  });
});
