import { lazyRouteComponent } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { untilBack } from '../session/connection.ts';
import { Fault } from '../shown/loaded.tsx';

type Pages = Readonly<Record<string, unknown>>;

/** The file of a page did not come since the server was away, and would now. */
class CameBack extends Error {}

async function fileOf<P extends Pages>(load: () => Promise<P>): Promise<P> {
  try {
    return await load();
  } catch (error) {
    // Otherwise it is not there any more, since there is another version: the router loads the page anew.
    throw (await untilBack()) ? new CameBack() : error;
  }
}

/** A page of the console, whose file is loaded when somebody goes there; where the server is away, once it is back. */
export const lazyPage = <P extends Pages, N extends keyof P & string>(
  load: () => Promise<P>,
  name: N,
): ReturnType<typeof lazyRouteComponent<P, N>> => lazyRouteComponent(() => fileOf(load), name);

/** Browsers remember which file failed, and ask for it again only where all is loaded anew. */
function LoadAnew(): ReactNode {
  useEffect(() => window.location.reload(), []);
  return null;
}

/** What stands where a page cannot be shown. */
export const PageFault = ({ error }: { readonly error: unknown }): ReactNode =>
  error instanceof CameBack ? <LoadAnew /> : <Fault error={error} />;
