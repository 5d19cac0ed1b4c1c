import { findRolesStillHeld } from '../../access/credentials/roles-still-held.js';
import { problem } from '../../kernel/problem.js';
import type { DefinitionInput } from '../../messages/definitions/definition-run.js';
import type { FlowRun } from '../../messages/flow-run.js';
import type { Platform } from '../../process/platform.js';
import { readVersion } from '../../queries/workflows/definition.js';
import { outerScope } from '../flows/flow-step.js';

/**
 * Whoever published the version of an execution, with what they still may do (spec/beyond.md R334). 403:
 * nothing any more.
 */
export async function findPublisher(platform: Platform, run: FlowRun) {
  const { tenantId } = run;
  const { definitionId, version } = run.input as DefinitionInput;
  const found = await readVersion(await outerScope(platform, run), definitionId, version);
  if (!found) throw problem.notFound('The version of the workflow is gone.');
  const { publishedBy: subject, credential } = found;
  const who = credential && { tenantId, roles: found.roles, credential };
  const held = who && (await findRolesStillHeld(platform.database.platform, who, platform.now()));
  if (held?.isSuspended === true) throw problem.unavailable('The tenant is suspended.');
  if (!credential || !held || held.roles.length === 0) {
    throw problem.forbidden(
      `'${subject}', who published the version, may do nothing any more: somebody who may has to publish it again.`,
    );
  }
  return { subject, credential, roles: held.roles, definition: found.definition };
}
