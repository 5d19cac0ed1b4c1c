import type { Problem } from '../../kernel/problem.js';
import type { Flow } from '../../schemas/flows/flow.js';
import { flows } from '../../schemas/flows/index.js';

/** The fields of the start node by the names that commands have for them. */
const startNames = ({ start }: Flow): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(start.properties).map(([field, schema]) => {
      const { to = field } = schema as { readonly to?: string };
      return [to, field];
    }),
  );

/**
 * The problem with the field names of the start node, which the caller knows (spec/flows.md R5).
 */
export function inStartNames(failure: Problem, workflow: string): Problem {
  const flow = (flows as Partial<Record<string, Flow>>)[workflow];
  if (!flow) return failure;
  const names = startNames(flow);
  return failure.inNames((field) => names.get(field) ?? field);
}
