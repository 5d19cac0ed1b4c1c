import { Decimal, digitsMax, isWithinDigits, ZERO } from '../kernel/numbers/money.js';
import { orRejected, Rejection } from './rejection.js';
import { readInstant } from './read-instant.js';
import type { UsageEvent, UsageEventRead } from './types.js';

type Members = Readonly<Record<string, unknown>>;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const referenceLengthMax = 255;

/**
 * Checks the form of a usage event (spec/rating.md R1 to R5). The first fault is named; members
 * that the specification does not know are ignored, because the gateway accepted them.
 */
export function readUsageEvent(message: unknown): UsageEventRead {
  const read = orRejected(() => readEvent(message));
  return 'ok' in read ? read : { ok: true, event: read };
}

function readEvent(message: unknown): UsageEvent {
  if (!isObject(message)) throw invalid('message must be a JSON object');
  const externalTransactionId = readReference(message, 'externalTransactionId');
  const serviceId = readReference(message, 'serviceId').toLowerCase();
  if (!uuid.test(serviceId))
    throw invalid(`serviceId must be a UUID, not '${serviceId.slice(0, 60)}'`);
  const eventTimestamp = readText(message, 'eventTimestamp');
  const instant = readInstant(eventTimestamp);
  if (!instant) {
    throw invalid(
      'eventTimestamp must be an ISO 8601 date-time that exists, such as 2024-01-31T23:59:59Z, ' +
        `of the years 1900 to 9998, not '${eventTimestamp.slice(0, 60)}'`,
    );
  }
  return {
    externalTransactionId,
    serviceId,
    ...instant,
    accountRef: readReference(message, 'billingAccountRef'),
    dimensions: readDimensions(message['dimensions']),
    quantity: readQuantity(message['quantity']),
    serviceInstanceId: readOptionalText(message, 'serviceInstanceId'),
    priceUnitLabel: readOptionalText(message, 'priceUnitLabel'),
  };
}

function readReference(message: Members, name: string): string {
  const text = readText(message, name);
  if (text.length > referenceLengthMax) {
    throw invalid(`${name} must have at most ${referenceLengthMax} characters`);
  }
  return text;
}

function readText(message: Members, name: string): string {
  const value = message[name];
  if (value === undefined || value === null) throw invalid(`${name} is required`);
  if (typeof value !== 'string') throw invalid(`${name} must be a string`);
  if (value === '') throw invalid(`${name} must not be empty`);
  return checkCharacters(value, name);
}

/** An empty text names nothing, so it counts as absent, as `null` does. */
function readOptionalText(message: Members, name: string): string | null {
  const value = message[name];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw invalid(`${name} must be a string`);
  return checkCharacters(value, name);
}

function readDimensions(value: unknown): ReadonlyMap<string, string> {
  if (value === undefined || value === null) throw invalid('dimensions is required');
  if (!isObject(value)) throw invalid('dimensions must be an object of names and string values');
  const dimensions = new Map<string, string>();
  for (const name of Object.keys(value)) {
    const text = value[name];
    checkCharacters(name, 'the name of a dimension');
    if (typeof text === 'number' || Decimal.isDecimal(text)) {
      throw invalid(`dimensions.${name} must be a string: send the number as "${text.toString()}"`);
    }
    if (typeof text !== 'string') throw invalid(`dimensions.${name} must be a string`);
    dimensions.set(name, checkCharacters(text, `dimensions.${name}`));
  }
  if (dimensions.size === 0) throw invalid('dimensions must name at least one dimension');
  return dimensions;
}

/** Small numbers arrive as numbers, those that a float would round as Decimal. */
function readQuantity(value: unknown): Decimal | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' && !Decimal.isDecimal(value)) {
    throw invalid('quantity must be a number');
  }
  const quantity = new Decimal(value);
  if (!isWithinDigits(quantity)) {
    throw invalid(`quantity must be a number of at most ${digitsMax} digits`);
  }
  if (quantity.lessThan(ZERO)) throw invalid('quantity must not be negative');
  return quantity.isZero() ? ZERO : quantity;
}

function checkCharacters(text: string, name: string): string {
  if (text.includes('\0')) throw invalid(`${name} must not hold a NUL character`);
  // Half of a UTF-16 pair: PostgreSQL refuses it as it refuses NUL, and a batch must not fail.
  if (!text.isWellFormed()) throw invalid(`${name} must be well-formed Unicode`);
  return text;
}

function isObject(value: unknown): value is Members {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !Decimal.isDecimal(value)
  );
}

function invalid(message: string): Rejection {
  return new Rejection('INVALID_EVENT', message);
}
