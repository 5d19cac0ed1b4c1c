import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { canonicalDigest, stringifyJsonInPortions } from '../../kernel/text/json-write-portions.js';
import { parseLong } from '../../kernel/text/parse-long.js';
import {
  signedInput,
  signedWorkflowId,
  type SignedSubject,
} from '../../messages/workflow-signature.js';
import type { SecretKeys } from '../secret-box.js';

/** A workflow as it is started. */
export interface WorkflowToSign {
  readonly type: string;
  readonly workflowId: string;
  readonly input: unknown;
}

/** A workflow by the fields that Temporal's list has. */
export interface ListedWorkflow extends SignedSubject {
  readonly type: string;
  readonly workflowId: string;
}

/**
 * Proves that this installation started a workflow, for this tenant, actor, execution and input:
 * anyone with access to Temporal can start any workflow (docs/decisions/0205).
 */
export interface WorkflowSigner {
  /** Rejects for a workflow whose input names no tenant. A long input is read in portions. */
  sign(workflow: WorkflowToSign): Promise<string>;
  /** Whether a workflow, or one of its activities, has the input that its signature was made for. */
  isSigned(workflow: WorkflowToSign, signature: unknown): Promise<boolean>;
  /** The same, where the input is not known. */
  isListedSigned(workflow: ListedWorkflow, signature: unknown): boolean;
  /** Whether workflows without any signature are still let pass: TEMPORAL_UNSIGNED_UNTIL. */
  acceptsUnsigned(): boolean;
}

interface SignerOptions extends SecretKeys {
  readonly namespace: string;
  /** Until when workflows without a signature are let pass; undefined: they are not. */
  readonly unsignedUntil?: Date | undefined;
}

const digestOf = async (value: unknown): Promise<string> =>
  Buffer.from(await canonicalDigest(value), 'hex').toString('base64url');

/** A value as Temporal returns it: without properties that JSON leaves out. */
const asJson = async (value: object): Promise<unknown> =>
  parseLong(await stringifyJsonInPortions(value, { isUneven: true }));

const isEqual = (left: string, right: string): boolean => {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/** A signature: the digest of the input, and a MAC over it and all that a list of workflows shows. */
export function workflowSigner({
  secret,
  previousSecrets,
  namespace,
  unsignedUntil,
}: SignerOptions): WorkflowSigner {
  const keys = [secret, ...previousSecrets].map((key) =>
    Buffer.from(hkdfSync('sha256', key, '', 'durabill workflow signature 1', 32)),
  );
  const macOf = (key: Buffer, listed: ListedWorkflow, digest: string): string => {
    const { type, workflowId, tenantId, actor, executionId } = listed;
    const place = signedWorkflowId(type, workflowId);
    const message = JSON.stringify([namespace, type, place, tenantId, actor, executionId, digest]);
    return createHmac('sha256', key).update(message).digest('base64url');
  };
  const isListedSigned = (listed: ListedWorkflow, signature: unknown): boolean => {
    if (typeof signature !== 'string') return false;
    const [digest = '', mac = ''] = signature.split('.');
    return keys.some((key) => isEqual(mac, macOf(key, listed, digest)));
  };
  return {
    async sign({ type, workflowId, input }) {
      const signed = signedInput(type, input);
      const [key] = keys;
      if (signed === undefined || key === undefined) {
        throw new Error(`The input of a workflow ${type} cannot be signed.`);
      }
      const digest = await digestOf(await asJson(signed.fixed));
      return `${digest}.${macOf(key, { type, workflowId, ...signed }, digest)}`;
    },
    async isSigned({ type, workflowId, input }, signature) {
      const signed = signedInput(type, input);
      if (signed === undefined || typeof signature !== 'string') return false;
      const [digest = ''] = signature.split('.');
      if (!isEqual(digest, await digestOf(signed.fixed))) return false;
      return isListedSigned({ type, workflowId, ...signed }, signature);
    },
    isListedSigned,
    acceptsUnsigned: () => unsignedUntil !== undefined && Date.now() < unsignedUntil.getTime(),
  };
}
