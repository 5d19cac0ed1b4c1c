import { exampleIds } from '../../../src/schemas/openapi/examples.js';
import { tellStory, type Answers } from './answer-story.js';
import type { TestInstance } from '../servers/instance.js';

/** The tenant of the story. */
const tenantId = 'acme-billing';

/** The day and hour at which the story is told, wherever and whenever it is. */
const told = '2026-04-01T08:00:00.000Z';
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Ids of this kind are the same in every instance: those of currencies, picklist values, flows. */
const isFixed = (id: string): boolean => id[14] === '5' || id.startsWith('01939c6e-7a00-');

/** Ids that follow each other in the order in which they are answered first. */
function steadyIds(text: string, known: ReadonlyMap<string, string>): string {
  const ids = new Map(known);
  const pattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  return text.replace(pattern, (id) => {
    if (isFixed(id)) return id;
    const count = (ids.size - known.size + 1).toString(16).padStart(12, '0');
    const steady = ids.get(id) ?? `01939c6e-7a01-7000-8000-${count}`;
    ids.set(id, steady);
    return steady;
  });
}

/** Instants and days from the beginning of the story on, moved to when it is told. */
function steadyTimes(text: string, from: Date): string {
  const start = from.getTime();
  const today = Date.parse(from.toISOString().slice(0, 10));
  const instants = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g;
  const moved = text.replace(instants, (instant) => {
    const hours = Math.floor((Date.parse(instant) - start) / hourMs);
    if (hours < 0) return instant;
    return new Date(Date.parse(told) + hours * hourMs).toISOString();
  });
  return moved.replace(/(?<![\d-])\d{4}-\d\d-\d\d(?![\d-]|T\d)/g, (day) => {
    const days = (Date.parse(day) - today) / dayMs;
    if (days < 0 || days > 31) return day;
    return new Date(Date.parse(told) + days * dayMs).toISOString().slice(0, 10);
  });
}

/** Part of a key, which is no UUID. */
const steadyKeyId = '0123456789abcdef';

/** What is of one run and one machine only, as it is in all. */
const steadyTexts = (text: string): string =>
  text
    .replace(
      /http:\/\/(?:127\.0\.0\.1|localhost):\d+\/namespaces/g,
      'http://localhost:8233/namespaces',
    )
    .replace(/http:\/\/127\.0\.0\.1:\d+\/hook/g, 'https://hooks.example/durabill')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'http://localhost:3000')
    .replace(
      /eyJ[\w-]+\.[\w-]+\.[\w-]+/g,
      'eyJhbGciOiJFUzI1NiJ9.eyJ0ZW5hbnRJZCI6ImFjbWUifQ.c2lnbmVk',
    )
    .replace(/dbk_[0-9a-f]{16}_[\w-]{43}/g, `dbk_${steadyKeyId}_${'x'.repeat(43)}`)
    .replace(/("id":")[0-9a-f]{16}"/g, `$1${steadyKeyId}"`)
    .replace(/whsec_[A-Za-z0-9+/=]{30,}/g, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    .replace(/("client_id_issued_at":)\d+/g, `$1${Date.parse(told) / 1000}`);

/** The running month of the next invoice, and of a schedule, is that in which the story is told. */
const inToldMonth = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer), (name, value: unknown) => {
    if (name === 'periodStart') return '2026-04-01';
    if (name === 'nextAt') return '2026-05-01T03:00:00.000Z';
    return name === 'periodEnd' ? '2026-04-30' : value;
  });

/** One minute shows what minutes are, and it is that in which the story is told. */
const inToldMinute = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer), (name, value: unknown) => {
    if (name === 'minutes') return (value as unknown[]).slice(0, 1);
    return name === 'minute' ? told : value;
  });

/** Has all operations answer, and takes out of it what would be another at another time. */
export async function recordAnswers(instance: TestInstance): Promise<Answers> {
  // Rows of this second are of the story.
  const from = new Date(Math.floor(Date.now() / 1000) * 1000 - 1000);
  const tenant = await instance.tenant(['ADMIN'], tenantId);
  const { answers, params } = await tellStory(instance, tenant);
  const known = new Map(
    Object.entries(exampleIds).map(([entity, id]) => [params[`${entity}Id`] ?? '', id]),
  );
  // One flow shows what a contract of a flow is.
  const contracts = (answers['listFlowContracts'] as unknown[]).slice(0, 1);
  // References of a schema would lead nowhere in a document of its own.
  const { $schema, title, description, type } = answers['getWorkflowSchema'] as Answers;
  const getWorkflowSchema = { $schema, title, description, type };
  const text = JSON.stringify({ ...answers, listFlowContracts: contracts, getWorkflowSchema });
  const steady = JSON.parse(steadyTexts(steadyTimes(steadyIds(text, known), from))) as Answers;
  return {
    ...steady,
    getNextInvoice: inToldMonth(steady['getNextInvoice']),
    listSchedules: inToldMonth(steady['listSchedules']),
    setSchedule: inToldMonth(steady['setSchedule']),
    getStatus: inToldMinute(steady['getStatus']),
  };
}
