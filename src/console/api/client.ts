import createClient from 'openapi-fetch';
import type { components, paths } from 'api-document';
import { fetchSignedIn } from '../session/fetch-signed-in.ts';
import { openClient } from './open-client.ts';

/** The types of the API's document by their names. */
export type Schemas = components['schemas'];

/** The API of this instance, for whoever is signed in. */
export const api = openClient(fetchSignedIn);

/**
 * The same with JSON as it is, for what a tenant wrote or gave and is shown as JSON: definitions, inputs,
 * outputs. Its numbers are numbers, whatever their types say: no amount is read through it.
 */
export const asJson = createClient<paths>({ baseUrl: '', fetch: fetchSignedIn });
