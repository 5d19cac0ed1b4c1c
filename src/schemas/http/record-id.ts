import { Type, type TUnsafe } from 'typebox';

/** Records that people know by a key of their own beside the id. */
export type KeyedRecord = 'account' | 'contract' | 'invoice' | 'payment' | 'service' | 'wallet';

/** By what people know a record, as descriptions say it. */
const keyWords: Readonly<Record<KeyedRecord, string>> = {
  account: 'externalId or number',
  contract: 'number',
  invoice: 'invoiceNo',
  payment: 'paymentReference',
  service: 'name or code',
  wallet: 'title',
};

export const isKeyed = (name: string): name is KeyedRecord => Object.hasOwn(keyWords, name);

/**
 * An id of a record that a request names, or a natural key of it; the id when the handler gets it (see
 * `queries/keys/resolve-natural-keys.ts`).
 */
export const RecordId = (record: KeyedRecord, description: string): TUnsafe<string> =>
  Type.Unsafe<string>({
    type: 'string',
    description: `${description} Its id, or its ${keyWords[record]}.`,
    minLength: 1,
    maxLength: 255,
    canonicalUuid: true,
    recordId: record,
  });

/** The record that a parameter of a path names, where it may be named by a natural key. */
export function recordOfParam(name: string): KeyedRecord | undefined {
  const record = name.replace(/Id$/, '');
  return name.endsWith('Id') && isKeyed(record) ? record : undefined;
}

/** What the document says of a parameter of a path that names such a record. */
export const describeParam = (record: KeyedRecord): string =>
  `Id of the ${record}, or its ${keyWords[record]}.`;

/** The same in short, where the name of the parameter says of what it is the id. */
export const describeKey = (record: KeyedRecord): string => `Id or ${keyWords[record]}.`;
