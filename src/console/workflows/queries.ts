import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, keeping, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';
import type { Keeping } from '../api/written-json.ts';
import { live } from '../live/live.ts';
import { fetchSignedIn } from '../session/fetch-signed-in.ts';

const askWorkflow = keeping('definition', 'dataSchema');
const askExecution = keeping('input', 'output', 'details');
const askTasks = keeping('input', 'output', 'error');

export type Workflow = Keeping<Schemas['Workflow'], 'definition' | 'dataSchema'>;
export type Execution = Keeping<Schemas['Execution'], 'input' | 'output' | 'details'>;
export type TaskRow = Keeping<Schemas['WorkflowTaskRow'], 'input' | 'output' | 'error'>;

const listSize = 100;
export const executionsSize = 20;

export const workflowList = queryOptions({
  queryKey: ['workflows'],
  queryFn: ({ signal }) =>
    askWorkflow((from) =>
      from.GET('/v1/workflows', { params: { query: { limit: digits(1_000) } }, signal }),
    ),
});

export const workflow = (workflowId: string) =>
  queryOptions({
    queryKey: ['workflow', workflowId],
    queryFn: ({ signal }) =>
      askWorkflow((from) =>
        from.GET('/v1/workflows/{workflowId}', { params: { path: { workflowId } }, signal }),
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

export const executionList = (workflowId: string, page: number) =>
  queryOptions({
    queryKey: ['executions', workflowId, page],
    placeholderData: keepPreviousData,
    ...live('executions'),
    queryFn: ({ signal }) => {
      const query = { limit: digits(executionsSize), offset: digits(page * executionsSize) };
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

/** The tasks of an execution, as far as one page has them; what is built in has none. */
export const timeline = (workflowId: string, executionId: string, isRunning: boolean) =>
  queryOptions({
    queryKey: ['execution tasks', workflowId, executionId, isRunning],
    ...live('executions', executionId),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      askTasks((from) =>
        from.GET('/v1/workflows/{workflowId}/executions/{executionId}/timeline', {
          params: { path: { workflowId, executionId }, query: { limit: digits(listSize) } },
          signal,
        }),
      ),
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

export const publish = (workflowId: string, text: string) =>
  read(
    api.PUT('/v1/workflows/{workflowId}', {
      params: { path: { workflowId } },
      ...asTyped(text),
    }),
  );

export const define = (text: string) => read(api.POST('/v1/workflows', asTyped(text)));

/** With the input as it was typed, too. */
export const execute = (workflowId: string, data: string) =>
  read(
    api.POST('/v1/workflows/{workflowId}/execute', {
      params: { path: { workflowId }, header: { 'Idempotency-Key': crypto.randomUUID() } },
      body: { data: {}, async: true },
      bodySerializer: () => `{"data":${data},"async":true}`,
    }),
  );

export const cancel = (workflowId: string, executionId: string) =>
  read(
    api.POST('/v1/workflows/{workflowId}/executions/{executionId}/cancel', {
      params: { path: { workflowId, executionId } },
    }),
  );
