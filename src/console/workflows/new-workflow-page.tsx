import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { Page, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { Editor, lackOf, useFaults } from './editor.tsx';
import { define } from './queries.ts';

/** What a first definition may look like. */
const first = {
  document: {
    dsl: '1.0.0',
    namespace: 'acme',
    name: 'greet-account',
    version: '1.0.0',
    title: 'Greets an account',
  },
  do: [
    {
      look: {
        call: 'durabill.operation',
        with: { operationId: 'listAccounts', parameters: { size: 1 } },
      },
    },
  ],
};

const beginning = JSON.stringify(first, null, 2);
/** What was typed, until it is published: whoever looks something up and comes back finds it here. */
let draft = beginning;

/** A definition that is new. */
export function NewWorkflowPage(): ReactNode {
  const [text, setText] = useState(draft);
  useEffect(() => {
    draft = text;
  }, [text]);
  const check = useFaults(text);
  const navigate = useNavigate();
  return (
    <Page
      title="Define a workflow"
      above={
        <Trail>
          {[
            <Link key="workflows" to="/workflows">
              Workflows
            </Link>,
            'New',
          ]}
        </Trail>
      }
    >
      <p>
        The Open Workflow Specification as JSON;{' '}
        <a href="/docs/guide/workflow-language" target="_blank">
          the guide
        </a>{' '}
        says what it may have. What it calls runs with your roles.
      </p>
      <Editor text={text} onChange={setText} check={check} />
      <Action
        operation="createWorkflow"
        name="Publish"
        isPrimary
        lacks={lackOf(check)}
        onDo={() => define(text)}
        onDone={({ id }) => {
          draft = beginning;
          void navigate({ to: '/workflows/$workflowId', params: { workflowId: id } });
        }}
      />
    </Page>
  );
}
