import { useState, type ReactNode } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { fetchSignedIn } from '../session/fetch-signed-in.ts';
import { Fault } from './loaded.tsx';
import { Press } from './press.tsx';

/** Keeps what the API sends under an address as a file of whoever looks. */
async function keep(path: string, name: string): Promise<void> {
  const response = await fetchSignedIn(new Request(path));
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

/** A button that keeps a file: links cannot say who is signed in. */
export function Download({
  path,
  name,
  children,
}: {
  readonly path: string;
  readonly name: string;
  readonly children: ReactNode;
}): ReactNode {
  const [state, setState] = useState<'idle' | 'busy' | 'done'>('idle');
  const [error, setError] = useState<unknown>();
  const start = (): void => {
    setState('busy');
    setError(undefined);
    keep(path, name).then(
      () => setState('done'),
      (fault: unknown) => {
        setState('idle');
        setError(fault);
      },
    );
  };
  return (
    <>
      <Press isHeld={state === 'busy'} onPress={start}>
        {children}
      </Press>{' '}
      <span role="status" className="muted">
        {state === 'busy' ? 'Loading…' : state === 'done' ? `${name} is there.` : ''}
      </span>
      {error === undefined ? null : <Fault error={error} />}
    </>
  );
}
