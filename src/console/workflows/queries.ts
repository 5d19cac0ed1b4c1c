import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, asJson, keeping, type Schemas } from '../api/client.ts';
import { newKey } from '../api/new-key.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';
import type { Keeping } from '../api/written-json.ts';
import { live } from '../live/live.ts';
import type { Form } from './completion.ts';
import { fetchSignedIn } from '../session/fetch-signed-in.ts';

const askWorkflow = keeping('definition', 'dataSchema');
const askExecution = keeping('input', 'output', 'details');
const askTasks = keeping('input', 'output', 'error');
const askDryRun = keeping('input', 'output', 'error', 'with');

export type Workflow = Keeping<Schemas['Workflow'], 'definition' | 'dataSchema'>;
export type Execution = Keeping<Schemas['Execution'], 'input' | 'output' | 'details'>;
export type DryRun = Keeping<Schemas['DryRun'], 'input' | 'output' | 'error' | 'with'>;
export type TaskRow = Keeping<Schemas['WorkflowTaskRow'], 'input' | 'output' | 'error'>;

export const tasksSize = 100;
export const executionsSize = 20;

export const workflowList = queryOptions({
  queryKey: ['workflows'],
  queryFn: ({ signal }) =>
    askWorkflow((from) =>
      from.GET('/v1/workflows', { params: { query: { limit: digits(1_000) } }, signal }),
    ),
});

/** A workflow with its live version, or another one. */
export const workflow = (workflowId: string, version?: string) =>
  queryOptions({
    queryKey: ['workflow', workflowId, version],
    queryFn: ({ signal }) =>
      askWorkflow((from) =>
        from.GET('/v1/workflows/{workflowId}', {
          params: { path: { workflowId }, query: version === undefined ? {} : { version } },
          signal,
        }),
      ),
  });

/** The picture of a workflow as a file of this page: pictures cannot say who is signed in. */
export const diagram = (workflowId: string, version: string) =>
  queryOptions({
    queryKey: ['diagram', workflowId, version],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const path = `/v1/workflows/${encodeURIComponent(workflowId)}/diagram`;
      const response = await fetchSignedIn(new Request(path, { signal }));
      return response.ok ? URL.createObjectURL(await response.blob()) : null;
    },
  });

export const executionList = (workflowId: string, status: string, page: number) =>
  queryOptions({
    queryKey: ['executions', workflowId, status, page],
    placeholderData: keepPreviousData,
    ...live('executions'),
    queryFn: ({ signal }) => {
      const query = {
        limit: digits(executionsSize),
        offset: digits(page * executionsSize),
        // What the API does not know it refuses, and says so.
        ...(status === '' ? {} : { status: status as Execution['status'] }),
      };
      return askExecution((from) =>
        from.GET('/v1/workflows/{workflowId}/executions', {
          params: { path: { workflowId }, query },
          signal,
        }),
      );
    },
  });

export const execution = (workflowId: string, executionId: string) =>
  queryOptions({
    queryKey: ['execution', workflowId, executionId],
    ...live('executions', executionId),
    queryFn: ({ signal }): Promise<Execution> =>
      askExecution((from) =>
        from.GET('/v1/workflows/{workflowId}/executions/{executionId}', {
          params: { path: { workflowId, executionId } },
          signal,
        }),
      ),
  });

/** A page of the tasks of an execution; what is built in has none. */
export const timeline = (
  workflowId: string,
  executionId: string,
  isRunning: boolean,
  page: number,
) =>
  queryOptions({
    queryKey: ['execution tasks', workflowId, executionId, isRunning, page],
    ...live('executions', executionId),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      askTasks((from) =>
        from.GET('/v1/workflows/{workflowId}/executions/{executionId}/timeline', {
          params: {
            path: { workflowId, executionId },
            query: { limit: digits(tasksSize), offset: digits(page * tasksSize) },
          },
          signal,
        }),
      ),
  });

export const deliveriesSize = 25;

/** The webhooks that were told of an execution, and of what it changed: the latest of them. */
export const deliveriesOf = (workflowId: string, executionId: string) =>
  queryOptions({
    queryKey: ['deliveries of an execution', workflowId, executionId],
    ...live('executions', executionId),
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/workflows/{workflowId}/executions/{executionId}/deliveries', {
          params: { path: { workflowId, executionId }, query: { limit: digits(deliveriesSize) } },
          signal,
        }),
      ),
  });

/** The ids of what is built in and executed by name: they come first, and are the same in every answer. */
export const builtInIds = queryOptions({
  queryKey: ['built-in workflows'],
  staleTime: Infinity,
  queryFn: async ({ signal }) => {
    const query = { limit: digits(100) };
    const { data } = await read(api.GET('/v1/workflows', { params: { query }, signal }));
    return data.filter(({ version }) => version === null).map(({ id }) => id);
  },
});

/** What a definition may have. */
export const definitionForm = queryOptions({
  queryKey: ['form of definitions'],
  staleTime: Infinity,
  queryFn: async ({ signal }) =>
    (await read(asJson.GET('/v1/workflows/schema', { signal }))) as Form,
});

/** The ids of all operations, as the API's document has them. */
export const operationNames = queryOptions({
  queryKey: ['names of operations'],
  staleTime: Infinity,
  queryFn: async ({ signal }) => {
    const response = await fetchSignedIn(new Request('/openapi.json', { signal }));
    const ids = (await response.text()).matchAll(/"operationId":\s*"([^"]+)"/g);
    return [...new Set([...ids].map(([, id = '']) => id))].sort();
  },
});

/**
 * A definition as it was typed, which is JSON: what a browser makes of it has the last of two members of
 * a name, and fewer digits.
 */
const asTyped = (text: string) => ({
  body: { definition: {} },
  bodySerializer: () => `{"definition":${text}}`,
});

export const validate = (text: string, signal: AbortSignal) =>
  read(api.POST('/v1/workflows/validate', { ...asTyped(text), signal }));

export const publish = (workflowId: string, text: string, basedOn: string) =>
  read(
    api.PUT('/v1/workflows/{workflowId}', {
      params: { path: { workflowId } },
      body: { definition: {} },
      bodySerializer: () => `{"definition":${text},"basedOn":${basedOn}}`,
    }),
  );

export const define = (text: string) => read(api.POST('/v1/workflows', asTyped(text)));

/** With the input as it was typed, too. */
export const execute = (workflowId: string, data: string) =>
  read(
    api.POST('/v1/workflows/{workflowId}/execute', {
      params: { path: { workflowId }, header: { 'Idempotency-Key': newKey() } },
      body: { data: {}, async: true },
      bodySerializer: () => `{"data":${data},"async":true}`,
    }),
  );

/** What it would do, with this input and what calls are said to give. */
export const simulate = (workflowId: string, input: string, results: string) =>
  askDryRun((from) =>
    from.POST('/v1/workflows/{workflowId}/simulate', {
      params: { path: { workflowId } },
      body: {},
      bodySerializer: () => `{"input":${input},"results":${results}}`,
    }),
  );

export const cancel = (workflowId: string, executionId: string) =>
  read(
    api.POST('/v1/workflows/{workflowId}/executions/{executionId}/cancel', {
      params: { path: { workflowId, executionId } },
    }),
  );
