import { Problem } from '../../kernel/problem.js';
import type { Flow } from '../../schemas/flows/flow.js';
import { flows } from '../../schemas/flows/index.js';

/** The names that commands have for fields of the start node, with the fields' own. */
function renamed({ start }: Flow): [name: string, field: string][] {
  return Object.entries(start.properties).flatMap(([field, schema]): [string, string][] => {
    const { to = field } = schema as { readonly to?: string };
    return to === field ? [] : [[to, field]];
  });
}

/**
 * The problem in the names of the start node, which are what its caller knows (spec/flows.md R4).
 * A name of one small word may be just a word, so in the message only the quoted one is meant.
 */
export function inStartNames(failure: Problem, workflow: string): Problem {
  const flow = (flows as Partial<Record<string, Flow>>)[workflow];
  if (!flow) return failure;
  const names = renamed(flow);
  const message = names.reduce(
    (text, [name, field]) =>
      /[A-Z.]/.test(name)
        ? text.replace(new RegExp(`\\b${name.replace('.', '\\.')}\\b`, 'g'), field)
        : text.replaceAll(`'${name}'`, `'${field}'`),
    failure.message,
  );
  const field = names.find(([name]) => name === failure.details['field'])?.[1];
  const details = field === undefined ? failure.details : { ...failure.details, field };
  return new Problem(failure.kind, message, details);
}
