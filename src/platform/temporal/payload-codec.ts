import {
  defaultPayloadConverter,
  METADATA_ENCODING_KEY,
  ValueError,
  type Payload,
  type PayloadCodec,
} from '@temporalio/common';
import { decode, encode } from '@temporalio/common/lib/encoding.js';
import proto from '@temporalio/proto';
import { openBytes, sealBytes } from '../secret-box.js';

/** The keys that encrypt payloads in Temporal: the current one, and all that decrypt. */
export interface PayloadKeys {
  /** The id of the key that is written with. */
  readonly current: string;
  /** 32 bytes each, by their ids; the current one among them. */
  readonly byId: ReadonlyMap<string, Buffer>;
  /** Until when payloads that are not sealed are read; undefined: they are not. */
  readonly unsealedUntil?: Date | undefined;
}

const sealed = 'binary/encrypted';
const keyIdField = 'encryption-key-id';
const cipherField = 'encryption-cipher';
const unsealedMessage =
  'A payload is not sealed, so that it was not written by this installation. Where sealing has just ' +
  'begun, TEMPORAL_UNSEALED_UNTIL says until when such payloads are read.';
const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/**
 * Encrypts the inputs and outputs of workflows and activities before they reach Temporal
 * (AES-256-GCM), and decrypts them (docs/decisions/0142). Each payload names its key, for key
 * rotation. A payload that is not encrypted is refused as foreign; during the introduction of
 * encryption it is accepted until a configured instant (docs/decisions/0206).
 */
export function payloadCodec({ current, byId, unsealedUntil }: PayloadKeys): PayloadCodec {
  const keyOf = (id: string): Buffer => {
    const key = byId.get(id);
    if (key !== undefined) return key;
    throw new ValueError(
      `A payload was sealed with the key '${id}', which TEMPORAL_PAYLOAD_KEYS does not have.`,
    );
  };
  const seal = (payload: Payload): Payload => ({
    metadata: {
      [METADATA_ENCODING_KEY]: encode(sealed),
      [cipherField]: encode('aes-256-gcm'),
      [keyIdField]: encode(current),
    },
    data: sealBytes(keyOf(current), PayloadMessage.encode(payload).finish(), current),
  });
  const open = (payload: Payload): Payload => {
    const { metadata, data } = payload;
    const encoding = metadata?.[METADATA_ENCODING_KEY];
    if (!metadata || !data || !encoding || decode(encoding) !== sealed) {
      if (unsealedUntil !== undefined && Date.now() < unsealedUntil.getTime()) return payload;
      throw new ValueError(unsealedMessage);
    }
    const id = decode(metadata[keyIdField] ?? encode(''));
    return PayloadMessage.decode(openBytes(keyOf(id), data, id));
  };
  return {
    encode: (payloads) => Promise.resolve(payloads.map(seal)),
    decode: (payloads) => Promise.resolve(payloads.map(open)),
  };
}

/**
 * Decrypts what it can, and returns null for the rest: in a list, one entry with a foreign memo
 * must not hide the others.
 */
export function listCodec(codec: PayloadCodec | undefined): PayloadCodec {
  const open = async (payload: Payload): Promise<Payload> => {
    try {
      const [opened = payload] = (await codec?.decode([payload])) ?? [];
      defaultPayloadConverter.fromPayload(opened);
      return opened;
    } catch {
      return defaultPayloadConverter.toPayload(null);
    }
  };
  return {
    encode: (payloads) => Promise.resolve(payloads),
    decode: (payloads) => Promise.all(payloads.map(open)),
  };
}
