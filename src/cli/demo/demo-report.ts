import type { ExplainedRow, ExplainedStep, Explanation } from '../../rating/index.js';

/** The part of `GET /v1/usage-events/{id}` that the report shows. */
export interface ExplainedUsage {
  readonly externalTransactionId: string;
  readonly workflowId: string;
  readonly ratedTransactions: readonly {
    readonly amount: number;
    readonly currency: string;
    readonly explanation: Explanation;
  }[];
}

function renderRow(row: ExplainedRow): string[] {
  const lines = [
    `  Row "${row.row.label}" (${row.row.priceMethod}) prices ${row.quantity} of ${row.row.attributeName}`,
  ];
  if (row.counter) {
    const { frequency, periodStart, before, after } = row.counter;
    lines.push(`  Counter (${frequency}, from ${periodStart}): ${before} before, ${after} after`);
  }
  for (const tier of row.tiers) {
    const band = `(${tier.from}, ${tier.to}]`.padEnd(18);
    const price = tier.isFlat ? 'once' : `${tier.volume.padStart(6)} x ${tier.unitRate.padEnd(7)}`;
    lines.push(`    tier ${tier.tierNum}  ${band} ${price} = ${tier.amount}`);
  }
  lines.push(`                                        sum = ${row.amount}`);
  return lines;
}

const renderStep = ({ name, formula, value }: ExplainedStep): string =>
  `    ${name.padEnd(12)} = ${formula.padEnd(30)} = ${value}`;

function renderExplanation(explanation: Explanation): string[] {
  const { card, contractLine, rows, steps, total } = explanation;
  const line = contractLine
    ? `contract ${contractLine.contractNumber}, instance ${contractLine.serviceInstanceId ?? '-'}`
    : 'no contract';
  return [
    `  Line: ${line}`,
    `  Card: ${card.source} price, ${card.currency}, version ${card.versionNo} from ${card.fromDate}`,
    ...(card.note === undefined ? [] : [`    ${card.note}`]),
    ...rows.flatMap(renderRow),
    ...(steps.length > 0 ? ['  Pricing logic', ...steps.map(renderStep)] : []),
    `  Total (${total.method}): ${total.amount} ${total.currency}`,
  ];
}

/** One charge in full, for people. */
export function renderCharge(usage: ExplainedUsage): string {
  const charges = usage.ratedTransactions.flatMap(({ explanation }) =>
    renderExplanation(explanation),
  );
  return ['', `Why ${usage.externalTransactionId} costs what it costs`, '', ...charges, ''].join(
    '\n',
  );
}
