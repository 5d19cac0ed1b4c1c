import { problem, type Problem } from '../../kernel/problem.js';
import {
  databaseErrorOf,
  isContended,
  isUnavailable,
  sqlState,
  tookTooLong,
} from '../../kernel/sql-state.js';

type Make = () => Problem;

/** What the violation of a named constraint means to a caller. */
const byConstraint: Readonly<Record<string, Make>> = {
  account_external_id: () =>
    problem.conflict((nameOf) => `An account with this ${nameOf('externalId')} exists already.`),
  account_number: () => problem.conflict('An account with this number exists already.'),
  service_name: () => problem.conflict('A service with this name exists already.'),
  attribute_service_name: () =>
    problem.conflict('The service has an attribute of this name already.'),
  attribute_line_name: () =>
    problem.conflict('The contract service has an attribute of this name already.'),
  rate_card_service_current: () =>
    problem.conflict('The service has a current rate card of this currency already.'),
  rate_card_line_current: () =>
    problem.conflict('The contract service has an exception card of this currency already.'),
  payment_reference: () =>
    problem.conflict(
      (nameOf) => `A payment with this ${nameOf('paymentReference')} exists already.`,
    ),
  tax_rate_code: () =>
    problem.conflict('A tax rate of this code exists already.', { field: 'code' }),
  wallet_title: () => problem.conflict('A wallet with this title exists already.'),
  workflow_definition_name: () =>
    problem.conflict('A workflow with this name exists already.', {
      field: 'definition.document.name',
    }),
  alert_name: () => problem.conflict('An alert with this name exists already.', { field: 'name' }),
  wallet_hold_key: () =>
    problem.conflict('There is a hold with this key already.', { field: 'key' }),
  wallet_hold_event: () =>
    problem.conflict('The usage event commits another hold.', {
      field: 'message.externalTransactionId',
    }),
  record_type_name: () =>
    problem.conflict('A record type with this name exists already.', { field: 'name' }),
  contract_number: () => problem.conflict('A contract with this number exists already.'),
};

const textNotStorable: Make = () =>
  problem.validation('A text contains a character that cannot be stored.');
const numberTooLarge: Make = () => problem.validation('A number is too large.');

/** SQLSTATEs that a request can cause even after validation. */
const byCode: Readonly<Record<string, Make>> = {
  [sqlState.invalidText]: textNotStorable,
  [sqlState.untranslatableText]: textNotStorable,
  [sqlState.numberOutOfRange]: numberTooLarge,
};

/**
 * For a lost connection node-postgres throws errors that have neither a code nor a class. Knex
 * prefixes the message with the statement and its values, so only the end is matched.
 */
const connectionLost =
  /(?:^| - )(?:Connection terminated(?: unexpectedly)?|Client (?:has encountered a connection error|was closed) and is not queryable|timeout expired)$/;

/** Knex gave up waiting for a connection of the pool. */
const poolTimeout = 'KnexTimeoutError';

/**
 * The problem for an error of the database; undefined for a fault that the caller can neither
 * correct nor wait out.
 */
export function databaseProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, constraint } = databaseErrorOf(error);
  const known = byConstraint[constraint ?? ''] ?? byCode[code ?? ''];
  if (known) return known();
  if (isContended(error)) {
    return problem.unavailable('Others are changing the same records; try again shortly.');
  }
  if (code === 'POOL_BUSY') {
    return problem.overloaded('Too much work of this tenant waits for the database; send less.');
  }
  if (code === sqlState.tenantMoves) {
    return problem.overloaded('The tenant is being moved to another server; try again shortly.');
  }
  if (code === 'CELL_REFUSED') {
    return problem.unavailable('The database does not answer at the moment; try again shortly.');
  }
  if (tookTooLong(error)) {
    return problem.overloaded(
      'This took longer than the database may work for one request, and nothing was changed; ask for less, or try again shortly.',
    );
  }
  if (isUnavailable(error) || error.name === poolTimeout || connectionLost.test(error.message)) {
    return problem.unavailable('The database does not answer at the moment; try again shortly.');
  }
  return undefined;
}
