import type { Static, TObject } from 'typebox';
import { problem } from '../kernel/problem.js';
import { referenceData } from '../kernel/reference-data.js';
import type { FlowContract, Workflow } from '../schemas/execution.js';
import type { Flow } from '../schemas/flow.js';
import { flowIdOf, jobs } from '../schemas/flows/flow-id.js';
import { flowList, publicNameOf, type FlowWorkflow } from '../schemas/flows/index.js';
import { SchemaTranslator, type JsonSchema } from '../schemas/openapi-schema.js';

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

/** A workflow that is executed by its name alone; it has no slug. */
export type KnownJob = (typeof jobs)[number] & {
  readonly flowId: string;
};

/** Whatever `POST /v1/workflows/{workflowId}/execute` executes. */
export type KnownWorkflow = KnownFlow | KnownJob;

export const knownWorkflows: readonly KnownWorkflow[] = [
  ...knownFlows,
  ...jobs.map((job) => ({ ...job, flowId: flowIdOf(job.name) })),
];

/** Of these, the one of an id or name. 404: there is none. */
function find<T extends KnownWorkflow>(known: readonly T[], key: string): T {
  const found = known.find(({ flowId, name }) => flowId === key.toLowerCase() || name === key);
  if (found) return found;
  throw problem.notFound(`There is no workflow '${key}'.`);
}

export const findFlow = (key: string): KnownFlow => find(knownFlows, key);
export const findWorkflow = (key: string): KnownWorkflow => find(knownWorkflows, key);

/** The JSON Schema of an input, with its picklists as they are. */
function jsonSchema(schema: TObject): Record<string, unknown> {
  const translator = new SchemaTranslator([], (name) => referenceData.picklistValueNames(name));
  return { ...translator.translate(schema) };
}

type RequestBody = FlowContractDto['requestBody'] & { readonly required?: readonly string[] };

/** The field with the one type that document 2 names; what may be left out may also be null. */
function ofOneType({ type, enum: values, ...field }: JsonSchema): JsonSchema {
  const notNull = (value: unknown): boolean => value !== null && value !== 'null';
  return {
    type: Array.isArray(type) ? type.find(notNull) : type,
    ...(Array.isArray(values) ? { enum: values.filter(notNull) } : {}),
    ...field,
  };
}

function contractBody({ start }: Flow): RequestBody {
  const schema = jsonSchema(start) as unknown as RequestBody;
  const fields = Object.entries(schema.properties as Record<string, JsonSchema>);
  const properties = Object.fromEntries(
    fields.map(([name, field]) => [name, ofOneType(field)]),
  ) as RequestBody['properties'];
  return { ...schema, properties };
}

/** The contract of a flow (document 2, section 2). */
export function presentFlowContract(known: KnownFlow, publicUrl: string): FlowContractDto {
  const { flow, flowId } = known;
  const schema = contractBody(flow);
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

/** A workflow that can be executed (document 2, section 4.3). */
export function presentWorkflow(known: KnownWorkflow): WorkflowDto {
  const { flowId: id, name } = known;
  if (!('flow' in known)) {
    const { title, description, data } = known;
    return { id, name, title, description, slug: null, dataSchema: jsonSchema(data) };
  }
  const { name: title, description, slug, start } = known.flow;
  return { id, name, title, description, slug, dataSchema: jsonSchema(start) };
}
