import { useState } from 'react';
import type { Send } from './open-client.ts';
import { ApiProblem } from './problem.ts';

/** Keeps what the API sends under an address as a file of whoever looks. */
async function keep(send: Send, path: string, name: string): Promise<void> {
  const response = await send(new Request(path));
  if (!response.ok) {
    const requestId = response.headers.get('x-request-id');
    throw new ApiProblem('The server gave no file.', response.status, requestId);
  }
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** A file that a button keeps: how that stands. Links cannot say who is signed in. */
export function useFile(send: Send, path: string, name: string) {
  const [state, setState] = useState<'idle' | 'busy' | 'done'>('idle');
  const [error, setError] = useState<unknown>();
  const start = (): void => {
    setState('busy');
    setError(undefined);
    keep(send, path, name).then(
      () => setState('done'),
      (fault: unknown) => {
        setState('idle');
        setError(fault);
      },
    );
  };
  return { state, error, start };
}
