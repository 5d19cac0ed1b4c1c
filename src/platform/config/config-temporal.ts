import { Type, type Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import type { PayloadKeys } from '../temporal/payload-codec.js';

const instant = Type.Optional(
  Type.String({ format: 'instant', description: 'an instant such as 2026-12-01T00:00:00Z' }),
);

/** The variables that say how far Temporal is trusted. */
export const TemporalTrustEnvironment = Type.Object({
  TEMPORAL_PAYLOAD_KEYS: Type.Optional(
    Type.String({
      format: 'keys-by-id',
      description:
        'id:key, several with commas, each key 32 random bytes in base64; the first one writes',
    }),
  ),
  TEMPORAL_UNSEALED_UNTIL: instant,
  TEMPORAL_UNSIGNED_UNTIL: instant,
});

export const isInstant = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text));

const listOf = (text: string): readonly string[] => text.split(',').map((one) => one.trim());

export function areKeysById(text: string): boolean {
  const ids = listOf(text).map(
    (one) => /^([A-Za-z0-9._-]{1,64}):[A-Za-z0-9+/]{43}=$/.exec(one)?.[1],
  );
  return !ids.includes(undefined) && new Set(ids).size === ids.length;
}

const dateOf = (text: string | undefined): Date | undefined =>
  text === undefined ? undefined : new Date(text);

function payloadKeysOf(values: Static<typeof TemporalTrustEnvironment>): PayloadKeys | undefined {
  if (values.TEMPORAL_PAYLOAD_KEYS === undefined) return undefined;
  const unsealedUntil = dateOf(values.TEMPORAL_UNSEALED_UNTIL);
  const entries = listOf(values.TEMPORAL_PAYLOAD_KEYS).map((one) => {
    const [id = '', key = ''] = one.split(':');
    return [id, Buffer.from(key, 'base64')] as const;
  });
  return {
    current: entries[0]?.[0] ?? '',
    byId: new Map(entries),
    ...defined({ unsealedUntil }),
  };
}

/** What is believed of what Temporal holds. */
export const temporalTrust = (values: Static<typeof TemporalTrustEnvironment>) => ({
  /** What Temporal keeps is sealed with these. */
  payloadKeys: payloadKeysOf(values),
  /** Until when workflows without a signature go on (docs/decisions/0205). */
  unsignedUntil: dateOf(values.TEMPORAL_UNSIGNED_UNTIL),
});
