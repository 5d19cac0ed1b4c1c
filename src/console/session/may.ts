import { reasonAgainst, type Written } from './needs.ts';
import { useSession } from './signed-in.tsx';

/** Why whoever is signed in may not do this; undefined: they may. */
export function useReasonAgainst(operation: Written): string | undefined {
  const session = useSession();
  return session.status === 'signedIn' ? reasonAgainst(operation, session.person) : undefined;
}
