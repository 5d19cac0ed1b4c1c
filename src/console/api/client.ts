import createClient from 'openapi-fetch';
import type { components, paths } from 'api-document';
import { fetchSignedIn } from '../session/fetch-signed-in.ts';
import { openClient, type Api } from './open-client.ts';
import { read, type Answer } from './problem.ts';
import type { Keeping } from './written-json.ts';

/** The types of the API's document by their names. */
export type Schemas = components['schemas'];

/** The API of this instance, for whoever is signed in. */
export const api = openClient(fetchSignedIn);

/** Reads answers of it whose members of these names are `Written`: what a tenant wrote or gave. */
export function keeping<Names extends string>(...names: readonly Names[]) {
  const client = openClient(fetchSignedIn, names);
  return <T>(ask: (from: Api) => Promise<Answer<T>>): Promise<Keeping<T, Names>> =>
    read(ask(client)) as Promise<Keeping<T, Names>>;
}

/** The same for answers that are read as text, since their numbers are changed and sent back. */
export const asJson = createClient<paths>({ baseUrl: '', fetch: fetchSignedIn });
