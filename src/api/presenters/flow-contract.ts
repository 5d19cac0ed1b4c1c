import type { Static, TObject } from 'typebox';
import type { KnownFlow, KnownWorkflow } from '../../flows/known-workflows.js';
import { asWritten } from '../../kernel/text/json.js';
import { isObject } from '../../kernel/expression/json-schema-check.js';
import type { ConditionFault } from '../../models/workflows/condition-fault.js';
import type { WorkflowVersion } from '../../models/workflows/definition.js';
import type { DefinedWorkflow, ListedWorkflow } from '../../queries/workflows/definition.js';
import { referenceData } from '../../kernel/reference-data.js';
import type { FlowContract, Workflow } from '../../schemas/flows/execution.js';
import type { Flow } from '../../schemas/flows/flow.js';
import { SchemaTranslator, type JsonSchema } from '../../schemas/openapi/openapi-schema.js';

type FlowContractDto = Static<typeof FlowContract>;
type WorkflowDto = Static<typeof Workflow>;

/** The JSON Schema of an input, with its picklists as they are. */
function jsonSchema(schema: TObject): Record<string, unknown> {
  const translator = new SchemaTranslator([], (name) => referenceData.picklistValueNames(name));
  return { ...translator.translate(schema) };
}

type RequestBody = FlowContractDto['requestBody'] & { readonly required?: readonly string[] };

/** The field with the one type that a contract names; what may be left out may also be null. */
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

/** The contract of a flow (spec/flows.md R10). */
export function presentFlowContract(known: KnownFlow, publicUrl: string): FlowContractDto {
  const { flow, flowId } = known;
  const schema = contractBody(flow);
  const required = schema.required ?? [];
  const path = `/api/v1/external/run/${flow.slug}`;
  const contentType = 'application/json';
  return {
    flowId,
    flowName: flow.name,
    description: flow.description,
    endpoint: {
      method: 'POST',
      path,
      urlTemplate: `${publicUrl}${path}`,
      contentType,
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

const builtIn = { version: null, hash: null };

/** A workflow that can be executed (spec/flows.md R22). */
export function presentWorkflow(known: KnownWorkflow): WorkflowDto {
  const { flowId: id, name } = known;
  if (!('flow' in known)) {
    const { title, description, data } = known;
    return { id, name, title, description, slug: null, ...builtIn, dataSchema: jsonSchema(data) };
  }
  const { name: title, description, slug, start } = known.flow;
  return { id, name, title, description, slug, ...builtIn, dataSchema: jsonSchema(start) };
}

/** A workflow of a tenant, in a list. */
export const presentListedWorkflow = (listed: ListedWorkflow): WorkflowDto => ({
  id: listed.id,
  name: listed.name,
  title: listed.title ?? listed.name,
  description: listed.summary ?? '',
  slug: null,
  version: listed.version,
  hash: listed.hash,
  dataSchema: listed.schema === null ? { type: 'object' } : asWritten(listed.schema),
});

/** A workflow of a tenant. */
function presentDefinition({ id, name, version, hash, published }: DefinedWorkflow): WorkflowDto {
  const { title = name, summary = '' } = published.document;
  const schema = published.input?.schema?.document;
  const dataSchema = isObject(schema) ? { ...schema } : { type: 'object' };
  return { id, name, title, description: summary, slug: null, version, hash, dataSchema };
}

const presentConditionFault = ({ at, version, event, executionId, reason }: ConditionFault) => ({
  at: at.toISOString(),
  version,
  event,
  executionId,
  reason,
});

/** The same with its definition, its versions, and how its conditions failed last. */
export const presentDefinitionWhole = (
  defined: DefinedWorkflow,
  versions: readonly WorkflowVersion[],
  fault: ConditionFault | undefined,
): WorkflowDto => ({
  ...presentDefinition(defined),
  definition: { ...defined.published },
  versions: versions.map(({ version, hash, publishedBy, createdAt }) => ({
    version,
    hash,
    publishedBy,
    createdAt: createdAt.toISOString(),
  })),
  conditionFault: fault ? presentConditionFault(fault) : null,
});
