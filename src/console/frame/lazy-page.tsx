import type { QueryClient } from '@tanstack/react-query';
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

/** Where a link leads, and whether somebody only points at it. */
interface Pointed<S, P> {
  readonly preload: boolean;
  readonly search: S;
  readonly params: P;
  readonly context: { readonly client: QueryClient };
}

/** Of a page whose address has nothing to choose. */
type Nothing = Readonly<Record<never, never>>;

/** What the file of a page exports that reads what it shows first. */
interface Ahead<S, P> {
  readonly ahead: (client: QueryClient, search: S, params: P) => void | Promise<void>;
}

/**
 * A page that is there at once where it can be: what it reads first is read with its file, when somebody
 * points at a link to it or has the focus there.
 */
export const readyPage = <M extends Pages, N extends keyof M & string, S = Nothing, P = Nothing>(
  load: () => Promise<M & Ahead<S, P>>,
  name: N,
) => ({
  component: lazyPage(load, name),
  beforeLoad: ({ preload, context, search, params }: Pointed<S, P>): void => {
    if (!preload) return;
    const read = async (): Promise<void> => (await load()).ahead(context.client, search, params);
    // Who goes there is told what did not come.
    read().catch(() => undefined);
  },
});

/** Browsers remember which file failed, and ask for it again only where all is loaded anew. */
function LoadAnew(): ReactNode {
  useEffect(() => window.location.reload(), []);
  return null;
}

/** What stands where a page cannot be shown. */
export const PageFault = ({ error }: { readonly error: unknown }): ReactNode =>
  error instanceof CameBack ? <LoadAnew /> : <Fault error={error} />;
