import { chooseVersion } from './choose-version.js';
import { rejected } from './rejection.js';
import type {
  AccountFacts,
  CardFacts,
  LineFacts,
  Rejected,
  RatingContext,
  ServiceFacts,
  UsageEvent,
} from './types.js';

/** Who used what, under which line and card (spec/rating.md R6 to R17). */
export interface Resolved {
  readonly ok: true;
  readonly account: AccountFacts;
  readonly service: ServiceFacts;
  readonly line: LineFacts | null;
  readonly card: CardFacts;
  readonly cardSource: 'exception' | 'catalog';
}

export function resolveContext(event: UsageEvent, context: RatingContext): Resolved | Rejected {
  const { account, service } = context;
  if (!account) {
    return rejected('ACCOUNT_NOT_FOUND', `No account has the external id '${event.accountRef}'`);
  }
  if (!account.isActive) {
    return rejected('ACCOUNT_INACTIVE', `Account '${account.externalId}' is not active`);
  }
  if (!service) return rejected('SERVICE_NOT_FOUND', `There is no service ${event.serviceId}`);
  if (!service.isActive) {
    return rejected('SERVICE_INACTIVE', `Service '${service.name}' is not active`);
  }
  const line = chooseLine(event, context.lines);
  if (!line && event.serviceInstanceId !== null) {
    return rejected(
      'INSTANCE_NOT_FOUND',
      `No contract line of account '${account.externalId}' on service '${service.name}' with ` +
        `instance '${event.serviceInstanceId}' runs on ${event.date}`,
    );
  }
  return chooseCard(event, account, service, line);
}

/** The running line with the latest start, then the lowest id; a line without start began first. */
export function chooseLine(event: UsageEvent, lines: readonly LineFacts[]): LineFacts | null {
  let chosen: LineFacts | null = null;
  for (const line of lines) {
    if (isOfEvent(line, event) && (chosen === null || comesBefore(line, chosen))) chosen = line;
  }
  return chosen;
}

function isOfEvent(line: LineFacts, event: UsageEvent): boolean {
  return (
    line.serviceId === event.serviceId &&
    (event.serviceInstanceId === null || event.serviceInstanceId === line.serviceInstanceId) &&
    (line.startDate === null || line.startDate <= event.date) &&
    (line.endDate === null || event.date <= line.endDate) &&
    (line.terminationDate === null || event.date <= line.terminationDate)
  );
}

function comesBefore(line: LineFacts, other: LineFacts): boolean {
  const [start, otherStart] = [line.startDate ?? '', other.startDate ?? ''];
  return start === otherStart ? line.id < other.id : start > otherStart;
}

function chooseCard(
  event: UsageEvent,
  account: AccountFacts,
  service: ServiceFacts,
  line: LineFacts | null,
): Resolved | Rejected {
  const currency = line?.contractCurrency ?? account.defaultCurrency ?? service.currency;
  if (currency === null) {
    return rejected(
      'NO_RATE_CARD',
      `Neither the contract, nor account '${account.externalId}', nor service '${service.name}' ` +
        'has a currency, so no rate card can be chosen',
    );
  }
  const exception = line && chooseVersion(line.cards, currency, event.date);
  const card = exception ?? chooseVersion(service.cards, currency, event.date);
  if (!card) {
    return rejected('NO_RATE_CARD', `Service '${service.name}' has no rate card in ${currency}`);
  }
  const cardSource = exception ? 'exception' : 'catalog';
  return { ok: true, account, service, line, card, cardSource };
}
