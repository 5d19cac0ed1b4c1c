/** `.colors` of the specification is null where there is none, and null and a list are the list. */
const adding = (color: string): string =>
  `\${ (has(input.colors) ? input.colors : []) + [${color}] }`;
const processed = (field: string): string =>
  `(has(input.processed) ? input.processed.${field} : [])`;

/** Each expression of the features in CEL; some of them stand there without `${ }`. */
export const expressions: Readonly<Record<string, string>> = {
  '${ .colors + ["red"] }': adding('"red"'),
  '${ .colors + ["green"] }': adding('"green"'),
  '${ .colors + ["blue"] }': adding('"blue"'),
  '${ .colors + [ "red" ] }': adding('"red"'),
  '${ .colors + [ "green" ] }': adding('"green"'),
  '${ .colors + [ "blue" ] }': adding('"blue"'),
  '${ .colors + [ $input.color ] }': adding('input.color'),
  '.colors': '${ input.colors }',
  '${ { colors: (.processed.colors + [ $color ]), indexes: (.processed.indexes + [ $index ])} }': `\${ {"colors": ${processed('colors')} + [color], "indexes": ${processed('indexes')} + [index]} }`,
  '${ .configuration.size }': '${ input.configuration.size }',
  '${ .configuration.fill }': '${ input.configuration.fill }',
  '.color == "red"': '${ input.color == "red" }',
  '.color == "green"': '${ input.color == "green" }',
  '.color == "blue"': '${ input.color == "blue" }',
  '.user.claims.subject': '${ input.user.claims.subject }',
  '${ . }': '${ input }',
  '.id': '${ output.id }',
  '.[0]': '${ output[0] }',
  '{ ids: [ $input, .id ] }': '${ {"ids": [input, output.id]} }',
  '${ $err }': '${ err }',
};

/** Types of errors as the document of the specification has them; its features have others. */
export const errorTypes: Readonly<Record<string, string>> = {
  'https://serverlessworkflow.io/dsl/errors/types/communication':
    'https://serverlessworkflow.io/spec/1.0.0/errors/communication',
};

/** The addresses of the features, at the server of the test; names in braces are those of the input. */
export const endpoint = (uri: string, serverUrl: string): string => {
  const address = serverUrl + new URL(uri).pathname.replaceAll('%7B', '{').replaceAll('%7D', '}');
  const text = address + decodeURI(new URL(uri).search);
  const [before = '', name, after = ''] = text.split(/[{}]/);
  if (name === undefined) return before;
  return `\${ "${before}" + string(dyn(input.${name})) + "${after}" }`;
};

/** What is left out, with the property of the definition that says so when it is saved. */
export const leftOut: Readonly<Record<string, { readonly why: string; readonly at: RegExp }>> = {
  'Explicit Sequence Flow': {
    why: 'Nothing goes back, so that everything ends: a `for` does it with a bound.',
    at: /\/then$/,
  },
  'Call HTTP Using Basic Authentication': {
    why: 'A header with a secret does it.',
    at: /\/endpoint$/,
  },
  'Call OpenAPI With Content Output': { why: '`http` does it.', at: /\/call$/ },
  'Call OpenAPI With Response Output': { why: '`http` does it.', at: /\/call$/ },
  'Emit Task': {
    why: 'Events of tenants are called custom.<name>, and have no source of their own.',
    at: /\/emit\/event\/with/,
  },
};

/** Of a scenario that is run: what of its outcome is otherwise here. */
export const notGiven: Readonly<Record<string, readonly string[]>> = {
  // A request with its secrets is nothing that a task gives.
  'Call HTTP With Response Output': ['request', 'request.method', 'request.uri', 'request.headers'],
};
