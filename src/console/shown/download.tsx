import type { ReactNode } from 'react';
import { useFile } from '../api/use-file.ts';
import { fetchSignedIn } from '../session/fetch-signed-in.ts';
import { Fault } from './loaded.tsx';
import { Press } from './press.tsx';

/** A button that keeps a file of the API. */
export function Download({
  path,
  name,
  children,
}: {
  readonly path: string;
  readonly name: string;
  readonly children: ReactNode;
}): ReactNode {
  const { state, error, start } = useFile(fetchSignedIn, path, name);
  const told = { idle: '', busy: 'Loading…', done: `${name} is there.` }[state];
  return (
    <>
      <Press isHeld={state === 'busy'} onPress={start}>
        {children}
      </Press>{' '}
      <span role="status" className="muted">
        {told}
      </span>
      {error === undefined ? null : <Fault error={error} />}
    </>
  );
}
