import { problem } from '../../kernel/problem.js';
import {
  defaultTools,
  findTool,
  toolSetNames,
  toolsOfSets,
  type Tool,
} from '../../schemas/mcp/tool-sets.js';

/** The tools that a client is shown, and those that it can call. */
export interface OfferedTools {
  readonly listed: readonly Tool[];
  find(name: string): Tool | undefined;
}

/**
 * What `/mcp?tools=read,run` offers: these sets and nothing else. Without a choice every tool can be
 * called, and those that only read are listed: a list of all costs a model twice as much before its
 * first question (docs/decisions/0250). 400: there is no such set.
 */
export function offeredTools(query: URLSearchParams): OfferedTools {
  const unknown = [...query.keys()].find((name) => name !== 'tools');
  if (unknown !== undefined) {
    throw problem.validation(
      `'${unknown.slice(0, 200)}' is not a known query parameter. Known is: tools.`,
      {
        field: unknown,
      },
    );
  }
  const given = query.getAll('tools');
  if (given.length === 0) return { listed: defaultTools, find: findTool };
  const listed = toolsOfSets(given.flatMap((names) => names.split(',')));
  if (listed === undefined) {
    throw problem.validation(
      `'tools' '${given.join(',').slice(0, 200)}' must be of: ${toolSetNames.join(', ')}; several with commas`,
      { field: 'tools', value: given.join(',') },
    );
  }
  const byName = new Map(listed.map((tool) => [tool.operation.id, tool]));
  return { listed, find: (name) => byName.get(name) };
}
