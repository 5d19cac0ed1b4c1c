import type { Static } from 'typebox';
import { problem } from '../kernel/problem.js';
import { referenceData } from '../kernel/reference-data.js';
import type { FlowContract, Workflow } from '../schemas/execution.js';
import type { Flow } from '../schemas/flow.js';
import { flowIdOf } from '../schemas/flows/flow-id.js';
import { flowList, publicNameOf, type FlowWorkflow } from '../schemas/flows/index.js';
import { SchemaTranslator } from '../schemas/openapi-schema.js';

type FlowContractDto = Static<typeof FlowContract>;
type WorkflowDto = Static<typeof Workflow>;

/** A flow with the names that callers know it by. */
export interface KnownFlow {
  readonly workflow: FlowWorkflow;
  readonly flow: Flow;
  /** The same on every installation (0-decisions.md section 3). */
  readonly flowId: string;
  readonly name: string;
}

export const knownFlows: readonly KnownFlow[] = flowList.map(([workflow, flow]) => ({
  ...{ workflow, flow, name: publicNameOf(workflow) },
  flowId: flowIdOf(flow.slug),
}));

/** A flow by its id or name. 404: there is none. */
export function findFlow(key: string): KnownFlow {
  const found = knownFlows.find(({ flowId, name }) => flowId === key.toLowerCase() || name === key);
  if (found) return found;
  throw problem.notFound(`There is no workflow '${key}'.`);
}

/** The JSON Schema of a start node, with its picklists as they are. */
function startSchema({ start }: Flow): Record<string, unknown> {
  const translator = new SchemaTranslator([], (name) => referenceData.picklistValueNames(name));
  return { ...translator.translate(start) };
}

/** The contract of a flow (document 2, section 2). */
export function presentFlowContract(known: KnownFlow, publicUrl: string): FlowContractDto {
  const { flow, flowId } = known;
  const schema = startSchema(flow) as unknown as FlowContractDto['requestBody'] & {
    readonly required?: readonly string[];
  };
  const required = schema.required ?? [];
  const path = `/api/v1/external/run/${flow.slug}`;
  const contentType = 'application/json';
  return {
    ...{ flowId, flowName: flow.name, description: flow.description },
    endpoint: {
      ...{ method: 'POST', path, urlTemplate: `${publicUrl}${path}`, contentType },
      headers: {
        'Content-Type': contentType,
        Accept: contentType,
        Authorization: 'Bearer <ACCESS_TOKEN>',
      },
    },
    requestBody: schema,
    requiredFields: [...required],
    optionalFields: Object.keys(schema.properties).filter((name) => !required.includes(name)),
  };
}

/** A flow as a workflow that can be executed (document 2, section 4.3). */
export function presentWorkflow({ flow, flowId, name }: KnownFlow): WorkflowDto {
  const { name: title, description, slug } = flow;
  return { id: flowId, name, title, description, slug, dataSchema: startSchema(flow) };
}
